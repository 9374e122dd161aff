package ipinfo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of a database, far above what is published (about 700,000 ranges and
// 40 MB), so that a wrong or hostile file cannot exhaust memory.
const (
	MaxRows  = 4_000_000
	maxLine  = 64 << 10
	maxBytes = 1 << 30 // after decompression
	maxText  = 256     // bytes of a description that are kept
)

var errTooLarge = fmt.Errorf("more than %d bytes", maxBytes)

// ReadTable reads an IPtoASN combined database, plain or gzip. The error names
// the line; the table is all of the file or nothing.
func ReadTable(r io.Reader) (*Table, error) {
	in := bufio.NewReaderSize(r, maxLine)
	text := in
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("open gzip: %w", err)
		}
		text = bufio.NewReaderSize(unzipped, maxLine)
	}
	b := builder{known: map[string]uint32{}}
	if err := b.readAll(text); err != nil {
		return nil, err
	}
	if b.Rows() == 0 {
		return nil, errors.New("no ranges")
	}
	b.v4.clip()
	b.v6.clip()
	b.v4.makeIndex(32 - 16)
	b.v6.makeIndex(64 - 16)
	return &b.Table, nil
}

// clip gives back what append has taken beyond need. (slices.Clip keeps it.)
func (r *ranges[K, E]) clip() {
	r.spans = append(make([]span[K], 0, len(r.spans)), r.spans...)
	r.ends = append(make([]E, 0, len(r.ends)), r.ends...)
}

// builder is a table while it is read.
type builder struct {
	Table
	known map[string]uint32 // the text behind a row's range, to its owner
	bytes int64
}

func (b *builder) readAll(in *bufio.Reader) error {
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		b.bytes += int64(len(line))
		atEnd := errors.Is(err, io.EOF)
		switch {
		case atEnd && len(line) == 0:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d: longer than %d bytes", n, maxLine)
		case err != nil && !atEnd:
			return fmt.Errorf("line %d: %w", n, err)
		case b.bytes > maxBytes:
			return fmt.Errorf("line %d: %w", n, errTooLarge)
		case b.Rows() == MaxRows:
			return fmt.Errorf("line %d: more than %d ranges", n, MaxRows)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if err := b.add(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// add takes one row: first, last, AS number, country, description.
func (b *builder) add(line []byte) error {
	first, rest, ok1 := bytes.Cut(line, []byte("\t"))
	last, rest, ok2 := bytes.Cut(rest, []byte("\t"))
	if !ok1 || !ok2 {
		return errors.New("want 5 columns separated by tabs")
	}
	from, err := readAddr(first)
	if err != nil {
		return err
	}
	to, err := readAddr(last)
	if err != nil {
		return err
	}
	o, err := b.owner(rest)
	if err != nil {
		return err
	}
	if from.Is4() != to.Is4() {
		return fmt.Errorf("range %s to %s mixes IPv4 and IPv6", from, to)
	}
	if to.Less(from) {
		return fmt.Errorf("range %s to %s is reversed", from, to)
	}
	return b.append(from, to, o)
}

// append adds a range behind those of its family.
func (b *builder) append(from, to netip.Addr, o uint32) error {
	first, last := keyOf(from), keyOf(to)
	inOrder := false
	if from.Is4() {
		first, last := uint32(first.lo), uint32(last.lo)
		inOrder = b.v4.append(span[uint32]{first, last, o}, last, func(a, b uint32) bool { return a < b })
	} else {
		inOrder = b.v6.append(span[key]{first, last, o}, last.hi, key.less)
	}
	if !inOrder {
		return fmt.Errorf("range %s to %s overlaps the one before or is out of order", from, to)
	}
	return nil
}

// append adds a span, unless it starts before the last one has ended.
func (r *ranges[K, E]) append(s span[K], end E, less func(a, b K) bool) bool {
	if n := len(r.spans); n > 0 && !less(r.spans[n-1].last, s.first) {
		return false
	}
	r.spans = append(r.spans, s)
	r.ends = append(r.ends, end)
	return true
}

func readAddr(text []byte) (netip.Addr, error) {
	a, err := netip.ParseAddr(string(text))
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%.60q is no address", text)
	}
	return a, nil
}

// owner returns the index of the owner that the columns behind a range name.
func (b *builder) owner(columns []byte) (uint32, error) {
	if i, ok := b.known[string(columns)]; ok {
		return i, nil
	}
	text := string(columns)
	number, rest, ok1 := strings.Cut(text, "\t")
	country, description, ok2 := strings.Cut(rest, "\t")
	if !ok1 || !ok2 || strings.Contains(description, "\t") {
		return 0, errors.New("want 5 columns separated by tabs")
	}
	asn, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.60q is no AS number", number)
	}
	code, ok := countryCode(country)
	if !ok {
		return 0, fmt.Errorf("%.60q is no country code", country)
	}
	i := uint32(len(b.owners))
	b.owners = append(b.owners, owner{uint32(asn), code, cleanText(description)})
	b.known[text] = i
	return i, nil
}

// countryCode checks a country column. Two capitals are a code, whether it has
// been given to a country or not.
func countryCode(text string) (code string, ok bool) {
	switch {
	case text == NoCountry || text == "Unknown":
		return NoCountry, true
	case len(text) == 2 && isCapital(text[0]) && isCapital(text[1]):
		return strings.Clone(text), true
	}
	return "", false
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

// cleanText makes what strangers wrote safe to show: valid UTF-8, no control
// characters, not too long.
func cleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return strings.Clone(strings.TrimSpace(text))
}
