package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"strings"
)

var errChunk = errors.New("malformed chunk")

// bodyReader undoes the framing of an answer's body (RFC 9112, sections 6.3
// and 7.1). An end before the end is io.ErrUnexpectedEOF.
type bodyReader struct {
	br      *bufio.Reader
	framing framing
	left    int64 // bytes of the body, or of the present chunk
	inside  bool  // a chunk, whose line end is still to come
	trailer http.Header
	err     error // sticks
}

// Read reads what there is, without waiting for more.
func (b *bodyReader) Read(p []byte) (n int, err error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	switch b.framing {
	case lengthFraming:
		n, b.err = b.readLength(p)
	case chunkedFraming:
		n, b.err = b.readChunks(p)
	case untilClose:
		n, b.err = b.br.Read(p)
	default:
		b.err = io.EOF
	}
	return n, b.err
}

// readLength returns the end together with the last bytes.
func (b *bodyReader) readLength(p []byte) (int, error) {
	n, err := b.piece(p)
	if err == nil && b.left == 0 {
		err = io.EOF
	}
	return n, err
}

// piece reads from the next left bytes.
func (b *bodyReader) piece(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.br.Read(p)
	b.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readChunks reads as many chunks as have come: each on its own would be
// flushed on its own.
func (b *bodyReader) readChunks(p []byte) (n int, err error) {
	for n < len(p) {
		if n > 0 && !b.more() {
			return n, nil
		}
		if b.left == 0 {
			if err := b.nextChunk(); err != nil {
				return n, err
			}
		}
		m, err := b.piece(p[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// more reports whether what is buffered goes on with the body: with bytes of
// this chunk, or a whole line for the next.
func (b *bodyReader) more() bool {
	if b.left > 0 {
		return b.br.Buffered() > 0
	}
	p, _ := b.br.Peek(b.br.Buffered())
	if len(p) > 2 {
		p = p[2:] // the line end of the last chunk
		return bytes.IndexByte(p, '\n') >= 0
	}
	return false
}

// nextChunk reads up to the bytes of the next chunk. Behind the last one it
// reads the trailers and returns io.EOF.
func (b *bodyReader) nextChunk() error {
	if b.inside {
		line, err := b.line()
		if err != nil {
			return err
		}
		if len(line) > 0 {
			return errChunk
		}
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	if b.left, err = chunkSize(line); err != nil {
		return err
	}
	if b.inside = b.left > 0; b.inside {
		return nil
	}
	r := headReader{br: b.br, left: headerBytes}
	block, err := r.block()
	if err != nil {
		return unexpected(err)
	}
	b.trailer = make(http.Header)
	if err := parseFields(block, b.trailer); err != nil {
		return err
	}
	return io.EOF
}

// line reads a line of the framing and returns it without its end.
func (b *bodyReader) line() ([]byte, error) {
	line, err := b.br.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return nil, errChunk
	case err != nil:
		return nil, unexpected(err)
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.IndexByte(line, '\r') >= 0 {
		return nil, errLineEnd
	}
	return line, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunkSize parses the line before a chunk. Extensions are ignored, and so are
// blanks at its end, with which some servers fill a fixed width.
func chunkSize(line []byte) (n int64, err error) {
	line = bytes.TrimRight(line, " \t")
	line, _, _ = bytes.Cut(line, []byte{';'})
	if len(line) == 0 || len(line) > 15 { // more bits than a length has
		return 0, errChunk
	}
	for _, c := range line {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, errChunk
		}
		n = n<<4 | int64(c)
	}
	return n, nil
}

// announced returns the trailers that Trailer lines name, without values yet.
func announced(lines []string) http.Header {
	var t http.Header
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			if name == "" || notTrailer(name) {
				continue
			}
			if t == nil {
				t = make(http.Header)
			}
			t[name] = nil
		}
	}
	return t
}

// notTrailer reports whether a field has no business behind a body: whoever
// merged it into the header would frame the answer anew.
func notTrailer(name string) bool { return name == "Content-Length" || hopByHop(name) }

// originBody is the body of an exchange's response.
type originBody struct {
	e *exchange
	bodyReader
	ended bool // it was read to its end
}

// Read gives the connection back at the end.
func (b *originBody) Read(p []byte) (int, error) {
	n, err := b.bodyReader.Read(p)
	if err == io.EOF && !b.ended {
		b.ended = true
		maps.DeleteFunc(b.trailer, func(name string, _ []string) bool { return notTrailer(name) })
		if len(b.trailer) > 0 && b.e.resp.Trailer == nil {
			b.e.resp.Trailer = b.trailer
		} else {
			maps.Copy(b.e.resp.Trailer, b.trailer)
		}
		b.e.release()
	}
	return n, err
}

// Close lets go of the connection.
func (b *originBody) Close() error {
	b.e.letGo()
	return nil
}
