package signed

import (
	"bytes"
	"strings"
	"testing"
)

func TestParseSecrets(t *testing.T) {
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 40)
	tests := []struct {
		name, in string
		want     []string
		err      string
	}{
		{"one", a, []string{a}, ""},
		{"two, the first signs", b + "," + a, []string{b, a}, ""},
		{"white space around", " " + b + " , " + a + "\n", []string{b, a}, ""},
		{"empty", "", nil, "secret 1 of 1 has 0 bytes, need at least 32"},
		{"one short by one", a[1:], nil, "secret 1 of 1 has 31 bytes, need at least 32"},
		{"comma at the end", a + ",", nil, "secret 2 of 2 has 0 bytes, need at least 32"},
		{"every problem at once", "hunter2," + a + ",swordfish", nil,
			"secret 1 of 3 has 7 bytes, need at least 32\nsecret 3 of 3 has 9 bytes, need at least 32"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseSecrets(tt.in)
			if text := errorText(err); text != tt.err {
				t.Fatalf("error %q, want %q", text, tt.err)
			}
			if joined := string(bytes.Join(got, []byte{0})); joined != strings.Join(tt.want, "\x00") {
				t.Errorf("secrets %q, want %q", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRandomSecret(t *testing.T) {
	a, b := RandomSecret(), RandomSecret()
	if len(a) != MinSecret || bytes.Equal(a, b) {
		t.Errorf("%d bytes, the same twice: %v", len(a), bytes.Equal(a, b))
	}
}
