package upstream

import (
	"io"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	long := func(head string, n int) string { return head + strings.Repeat("p", n) }
	for _, tc := range []struct {
		name, bytes string
		open        bool // at the end
	}{
		{"nothing", "", true},
		{"short", "\x81\x02hi", true},
		{"empty", "\x89\x00", true},
		{"masked", "\x81\x82mmmmhi", true},
		{"two byte length", long("\x82\x7e\x01\x00", 256), true},
		{"eight byte length, masked", long("\x82\xff\x00\x00\x00\x00\x00\x01\x00\x00mmmm", 65536), true},
		{"half a head", "\x81", false},
		{"half a payload", "\x81\x02h", false},
		{"half a length", "\x82\x7e\x01", false},
		{"closed", "\x88\x02\x03\xe8", false},
		{"open after a ping", "\x81\x02hi\x89\x01p", true},
	} {
		for _, step := range []int{1, 3, len(tc.bytes) + 1} {
			var f frames
			for r := strings.NewReader(tc.bytes); r.Len() > 0; {
				p := make([]byte, step)
				n, _ := io.ReadFull(r, p)
				f.pass(p[:n])
			}
			if f.open() != tc.open {
				t.Errorf("%s, %d bytes at a time: open is %v", tc.name, step, f.open())
			}
		}
	}
}
