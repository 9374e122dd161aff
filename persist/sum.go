package persist

import (
	"fmt"
	"hash/crc32"
	"io"
)

// castagnoli is the polynomial of all sums; processors compute it by
// themselves.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// summer writes a JSON object and closes it with the sum of what came before.
type summer struct {
	w   io.Writer
	t   *crc32.Table
	sum uint32
	err error
}

func newSummer(w io.Writer) *summer { return &summer{w: w, t: castagnoli()} }

// Write remembers the first error, so that callers need not look at each.
func (s *summer) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.sum = crc32.Update(s.sum, s.t, p)
	_, s.err = s.w.Write(p)
	return len(p), s.err
}

const sumForm = ",\n\"sum\":\"%08x\"}\n"

// finish writes the sum and the closing brace.
func (s *summer) finish() error {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, sumForm, s.sum)
	}
	return s.err
}

// summed reports whether text ends in the sum of what stands before it.
func summed(text []byte) bool {
	n := len(fmt.Sprintf(sumForm, 0))
	if len(text) < n {
		return false
	}
	body := text[:len(text)-n]
	return string(text[len(body):]) == fmt.Sprintf(sumForm, crc32.Checksum(body, castagnoli()))
}
