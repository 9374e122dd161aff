package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// What is wrong with an answer. The parser takes only what can be read in one
// way: two readers who differ about where an answer ends can be played off
// against each other.
var (
	errHeaderSize = errors.New("header is too large")
	errLineEnd    = errors.New("line does not end with CR and LF")
	errStatusLine = errors.New("malformed status line")
	errField      = errors.New("malformed field line")
	errFraming    = errors.New("ambiguous length")
)

// headReader reads headers of answers.
type headReader struct {
	br   *bufio.Reader
	left int // bytes until they are too large, all together
	buf  []byte
}

// responseHead is a status line with its fields. The strings are pieces of one.
type responseHead struct {
	status int
	minor  int // of HTTP/1
	header http.Header
}

// read reads one header and its empty line; the fields go to h.
func (r *headReader) read(h http.Header) (responseHead, error) {
	block, err := r.block()
	if err != nil {
		return responseHead{}, err
	}
	line, rest, _ := strings.Cut(block, "\r\n")
	head, err := parseStatus(line)
	if err != nil {
		return responseHead{}, err
	}
	head.header = h
	return head, parseFields(rest, h)
}

// block reads up to and without the next empty line.
func (r *headReader) block() (string, error) {
	if s, ok := r.buffered(); ok {
		return s, nil
	}
	r.buf = r.buf[:0]
	start := 0 // of the present line
	for {
		piece, err := r.br.ReadSlice('\n')
		if r.left -= len(piece); r.left < 0 {
			return "", errHeaderSize
		}
		r.buf = append(r.buf, piece...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(r.buf) > 0:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		}
		line := r.buf[start:]
		if len(line) < 2 || line[len(line)-2] != '\r' {
			return "", errLineEnd
		}
		if len(line) == 2 {
			return string(r.buf[:start]), nil
		}
		start = len(r.buf)
	}
}

// buffered takes a header that has come in one piece, which is the rule.
func (r *headReader) buffered() (string, bool) {
	if r.br.Buffered() == 0 {
		_, _ = r.br.Peek(1) // the error comes again
	}
	p, _ := r.br.Peek(r.br.Buffered())
	start := 0 // of the present line
	for {
		n := bytes.IndexByte(p[start:], '\n')
		i := start + n
		if n < 1 || p[i-1] != '\r' || i > r.left {
			return "", false // the long way waits for more, or finds the words for it
		}
		if i == start+1 {
			block := string(p[:start])
			_, _ = r.br.Discard(i + 1) // is buffered
			r.left -= i + 1
			return block, true
		}
		start = i + 1
	}
}

// parseStatus parses a status line (RFC 9112, section 4). Without a reason
// phrase the blank behind the code may be missing, too.
func parseStatus(line string) (head responseHead, err error) {
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	switch version {
	case "HTTP/1.1":
		head.minor = 1
	case "HTTP/1.0":
	default:
		return head, errStatusLine
	}
	if len(code) != 3 || code[0] < '1' || !digits(code) || strings.IndexByte(line, '\r') >= 0 {
		return head, errStatusLine
	}
	head.status, _ = strconv.Atoi(code)
	return head, nil
}

// parseFields parses field lines, each with its line end (RFC 9112, section 5).
// Folded lines, blanks before the colon and control characters, bare CRs among
// them, are refused.
func parseFields(block string, h http.Header) error {
	values := make([]string, strings.Count(block, "\n")) // most names have one each
	for block != "" {
		var line string
		line, block, _ = strings.Cut(block, "\r\n")
		name, value, found := strings.Cut(line, ":")
		if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return errField
		}
		name, value = textproto.CanonicalMIMEHeaderKey(name), textproto.TrimString(value)
		if have := h[name]; have != nil {
			h[name] = append(have, value)
			continue
		}
		values[0] = value
		h[name], values = values[:1:1], values[1:]
	}
	return nil
}

// framing is how the end of a body is told.
type framing uint8

const (
	noFraming framing = iota // there is no body
	lengthFraming
	chunkedFraming
	untilClose
)

// framing says how the body ends of an answer to method. The length is -1 when
// nobody knows it; where there is no body, it is that of the one there might be.
func (head responseHead) framing(method string) (framing, int64, error) {
	length, err := statedLength(head.header["Content-Length"])
	if err != nil {
		return 0, 0, err
	}
	encodings := head.header["Transfer-Encoding"]
	if len(encodings) > 0 {
		if len(encodings) > 1 || !strings.EqualFold(encodings[0], "chunked") || head.minor == 0 || length >= 0 {
			return 0, 0, fmt.Errorf("%w: transfer encoding %q", errFraming, encodings)
		}
	}
	switch {
	case method == http.MethodHead, head.status == http.StatusNotModified:
		return noFraming, length, nil
	case head.status == http.StatusNoContent:
		return noFraming, 0, nil
	case len(encodings) > 0:
		return chunkedFraming, -1, nil
	case length >= 0:
		return lengthFraming, length, nil
	}
	return untilClose, -1, nil
}

// statedLength returns what the Content-Length lines say, which must be one
// thing; -1 when there are none.
func statedLength(lines []string) (int64, error) {
	if len(lines) == 0 {
		return -1, nil
	}
	for _, line := range lines[1:] {
		if line != lines[0] {
			return 0, fmt.Errorf("%w: content lengths %q", errFraming, lines)
		}
	}
	n, err := strconv.ParseInt(lines[0], 10, 64)
	if err != nil || !digits(lines[0]) {
		return 0, fmt.Errorf("%w: content length %q", errFraming, lines[0])
	}
	return n, nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
