package pipeline

import "testing"

func TestRanksAreReadAsTheyAreWritten(t *testing.T) {
	for r := range NumRanks {
		if got, ok := ParseRank(r.String()); got != r || !ok {
			t.Errorf("%v is read as %v, %v", r, got, ok)
		}
	}
	if r, ok := ParseRank("sTaFf"); r != Staff || !ok {
		t.Errorf("sTaFf is %v, %v", r, ok)
	}
	for _, bad := range []string{"", "vip", "unknown", "staff "} {
		if r, ok := ParseRank(bad); ok || r != Guest {
			t.Errorf("%q is %v, %v", bad, r, ok)
		}
	}
	if got := NumRanks.String(); got != "unknown" {
		t.Errorf("a rank there is not is called %q", got)
	}
}
