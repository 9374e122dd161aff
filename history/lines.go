package history

import (
	"bufio"
	"errors"
	"io"
)

// maxLine is the longest line that is read; ours are shorter.
const maxLine = 1 << 20

// eachLine calls visit with each line, which it must not keep, and its end. Lines
// that are too long are skipped, and counted.
func eachLine(from io.Reader, visit func(line []byte) error) (tooLong uint64, err error) {
	in := bufio.NewReaderSize(from, maxLine)
	for skipping := false; ; {
		line, err := in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case full:
			skipping = true
		case skipping: // this is the end of the line that is skipped
			skipping = false
			tooLong++
		case len(line) > 0:
			if err := visit(line); err != nil {
				return tooLong, err
			}
		}
		switch {
		case err == nil || full:
		case errors.Is(err, io.EOF):
			return tooLong, nil
		default:
			return tooLong, err
		}
	}
}
