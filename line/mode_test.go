package line

import "testing"

func TestModesAreNamed(t *testing.T) {
	for _, m := range Modes {
		if got, known := ParseMode(m.String()); got != m || !known {
			t.Errorf("%q is read as %v, %v", m, got, known)
		}
	}
	for _, name := range []string{"", "Open", "unknown"} {
		if m, known := ParseMode(name); known {
			t.Errorf("%q is read as %v", name, m)
		}
	}
	if got := Mode(len(Modes)).String(); got != "unknown" {
		t.Errorf("what is no mode is called %q", got)
	}
}
