package rawtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Patience is how long a read may take before the test is failed. It is only
// there so that a broken proxy cannot hang a suite.
const Patience = time.Minute

// Head is a request or response up to its empty line, byte for byte.
type Head struct {
	Line   string   // the request or status line, without its line end
	Fields []string // the header lines in order, without their line ends
}

// Values returns the values of all lines of that name, in order. Names are
// compared without case.
func (h Head) Values(name string) []string {
	var values []string
	for _, line := range h.Fields {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(k, name) {
			values = append(values, strings.Trim(v, " \t"))
		}
	}
	return values
}

// Value returns the first value of that name, or "".
func (h Head) Value(name string) string {
	if values := h.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Has reports whether there is a line of that name.
func (h Head) Has(name string) bool { return len(h.Values(name)) > 0 }

func readHead(r *bufio.Reader) (Head, error) {
	var h Head
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			if err == io.EOF && (line != "" || h.Line != "") {
				err = io.ErrUnexpectedEOF
			}
			return h, err
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case h.Line == "":
			h.Line = line
		case line == "":
			return h, nil
		default:
			h.Fields = append(h.Fields, line)
		}
	}
}

// body is a message body: as it was framed and as it is meant.
type body struct {
	raw      []byte
	decoded  []byte
	trailers []string // trailer lines in order
}

// readBody reads a body by the framing its head announces. untilEOF says that
// a head without framing means a body up to the end of the connection.
func readBody(r *bufio.Reader, h Head, untilEOF bool) (body, error) {
	switch {
	case strings.EqualFold(h.Value("Transfer-Encoding"), "chunked"):
		return readChunked(r)
	case h.Has("Content-Length"):
		n, err := strconv.ParseInt(h.Value("Content-Length"), 10, 64)
		if err != nil {
			return body{}, fmt.Errorf("read body: %w", err)
		}
		var b bytes.Buffer
		_, err = io.CopyN(&b, r, n)
		return body{raw: b.Bytes(), decoded: b.Bytes()}, err
	case untilEOF:
		all, err := io.ReadAll(r)
		return body{raw: all, decoded: all}, err
	}
	return body{}, nil
}

func readChunked(r *bufio.Reader) (body, error) {
	var b body
	for {
		line, err := readRaw(r, &b)
		if err != nil {
			return b, err
		}
		digits, _, _ := strings.Cut(line, ";")
		size, err := strconv.ParseInt(digits, 16, 64)
		if err != nil {
			return b, fmt.Errorf("read chunk size %q: %w", line, err)
		}
		if size == 0 {
			break
		}
		chunk := make([]byte, size+2) // the line end belongs to the chunk
		n, err := io.ReadFull(r, chunk)
		b.raw = append(b.raw, chunk[:n]...)
		b.decoded = append(b.decoded, chunk[:min(int64(n), size)]...)
		if err != nil {
			return b, err
		}
	}
	for {
		line, err := readRaw(r, &b)
		if err != nil || line == "" {
			return b, err
		}
		b.trailers = append(b.trailers, line)
	}
}

// readRaw reads a line into b.raw and returns it without its line end.
func readRaw(r *bufio.Reader, b *body) (string, error) {
	line, err := r.ReadString('\n')
	b.raw = append(b.raw, line...)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimRight(line, "\r\n"), err
}
