package page

import (
	"hash/crc32"
	"strings"
	"testing"
)

func TestChecksum(t *testing.T) {
	for _, text := range []string{"", "x", "\x00\x00", "<p>Place", strings.Repeat("waiting ", 5000)} {
		c := newChecksum([]byte(text))
		for _, before := range []string{"", "\x00", "\xff\xff\xff\xff", "12,345", strings.Repeat("z", 1000)} {
			want := crc32.ChecksumIEEE([]byte(before + text))
			if got := c.behind(crc32.ChecksumIEEE([]byte(before))); got != want {
				t.Errorf("%d bytes behind %d: %#x, want %#x", len(text), len(before), got, want)
			}
		}
	}
}
