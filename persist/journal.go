package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"net/netip"
)

// A journal line is the sum of its JSON, a space, the JSON, and a newline.
// The first is the header; each other one is what became of one client, so
// that reading them in order, and even twice, gives the latest state.

// journalHeader is the first line.
type journalHeader struct {
	Version int `json:"version"`
}

// journalLine is any other: one of the two.
type journalLine struct {
	Set  *banEntry `json:"set,omitempty"`
	Drop string    `json:"drop,omitempty"`
}

// appendLine adds a line to b.
func appendLine(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return b, err
	}
	b = fmt.Appendf(b, "%08x ", crc32.Checksum(text, castagnoli()))
	return append(append(b, text...), '\n'), nil
}

// appendLines returns a line for each of some values.
func appendLines[T any](values iter.Seq[T]) (b []byte, err error) {
	for v := range values {
		if b, err = appendLine(b, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// cutLine takes the JSON of the line at the beginning of b; ok is false when
// it is not a good one.
func cutLine(b []byte) (text, rest []byte, ok bool) {
	line, rest, whole := bytes.Cut(b, []byte("\n"))
	if !whole || len(line) < 10 || line[8] != ' ' {
		return nil, rest, false
	}
	text = line[9:]
	return text, rest, string(line[:8]) == fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli()))
}

// writeJournal writes one without events.
func writeJournal(w io.Writer) error {
	line, err := appendLine(nil, journalHeader{bansVersion})
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// readJournal reads the events of a journal over bans. What is torn at its end
// never got an answer and is dropped. Damage before a good line cannot come
// from a crash: bad counts such lines. The error is one that leaves nothing to
// trust.
func readJournal(text []byte, bans map[netip.Prefix]Ban) (torn, bad int, err error) {
	head, rest, ok := cutLine(text)
	var h journalHeader
	if !ok || json.Unmarshal(head, &h) != nil {
		return 0, 0, errors.New("its first line is damaged")
	}
	if err := checkVersion(h.Version, bansVersion); err != nil {
		return 0, 0, err
	}
	damaged := 0 // since the last good line
	for len(rest) > 0 {
		var line []byte
		line, rest, ok = cutLine(rest)
		if !ok || apply(line, bans) != nil {
			damaged++
			continue
		}
		bad, damaged = bad+damaged, 0
	}
	return damaged, bad, nil
}

// apply does what one line says.
func apply(text []byte, bans map[netip.Prefix]Ban) error {
	var raw struct {
		Set  json.RawMessage `json:"set"`
		Drop string          `json:"drop"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	if raw.Set == nil {
		client, err := parseClient(raw.Drop)
		if err == nil {
			delete(bans, client)
		}
		return err
	}
	b, err := parseBan(raw.Set)
	if err == nil {
		bans[b.Client] = b
	}
	return err
}
