package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"
)

const (
	bansVersion = 1
	maxBans     = 512 << 20 // bytes of bans.json or its journal
)

// Ban is the latest ban of a client, running or over, or the running ban of a
// range. The fields are those of a registry's own record.
type Ban struct {
	Client   netip.Prefix // an IPv4 /32, an IPv6 /64, or a range
	Since    time.Time
	Until    time.Time // zero when it is permanent
	Offenses int       // bans so far, this one included
	Cause    string
	Note     string
	By       string
}

// banEntry is the form of a Ban on disk.
type banEntry struct {
	Client    string    `json:"client"`
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"` // absent when permanent
	Permanent bool      `json:"permanent,omitempty"`
	Offenses  int       `json:"offenses"`
	Cause     string    `json:"cause,omitempty"`
	Note      string    `json:"note,omitempty"`
	By        string    `json:"by,omitempty"`
}

// asideEntry is an entry that could not be read. It is carried along, and
// tried again at every start: it may be of a newer Concert, or be corrected.
type asideEntry struct {
	Entry json.RawMessage `json:"entry"`
	Why   string          `json:"why"`
}

// bansFile is the form of bans.json on disk, as far as reading goes.
type bansFile struct {
	Version int               `json:"version"`
	Saved   time.Time         `json:"saved"`
	Clients []json.RawMessage `json:"clients"`
	Ranges  []json.RawMessage `json:"ranges"`
	Aside   []asideEntry      `json:"aside"`
}

// clientText is the short form of a client: an address when it is one.
func clientText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// parseClient reads what clientText writes.
func parseClient(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("client %q is no address and no range", text)
	}
	return p.Masked(), nil
}

func entryOf(b Ban) banEntry {
	return banEntry{
		Client: clientText(b.Client), Since: b.Since.UTC(), Until: b.Until.UTC(), Permanent: b.Until.IsZero(),
		Offenses: b.Offenses, Cause: b.Cause, Note: b.Note, By: b.By,
	}
}

// parseBan reads one entry. It takes nothing for granted: an entry without an
// end that is not marked permanent is refused, not taken for either.
func parseBan(raw json.RawMessage) (Ban, error) {
	var e banEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return Ban{}, err
	}
	client, err := parseClient(e.Client)
	switch {
	case err != nil:
		return Ban{}, err
	case e.Permanent != e.Until.IsZero():
		return Ban{}, errors.New(`it needs either "until" or "permanent": true`)
	case e.Offenses < 0:
		return Ban{}, errors.New(`"offenses" is negative`)
	}
	return Ban{client, e.Since, e.Until, e.Offenses, e.Cause, e.Note, e.By}, nil
}

// isRange reports whether a ban holds for more than one client.
func isRange(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() < 32
	}
	return p.Bits() < 64
}

// writeBans writes the form on disk: one JSON document, an entry a line, with
// the sum of all that stands before the sum.
func writeBans(w io.Writer, bans []Ban, aside []asideEntry, now time.Time) error {
	s := newSummer(w)
	fmt.Fprintf(s, "{\"version\":%d,\"saved\":%q", bansVersion, now.UTC().Format(time.RFC3339))
	write := func(name string, each func(yield func(any))) error {
		fmt.Fprintf(s, ",\n%q:[", name)
		var err error
		separator := "\n"
		each(func(v any) {
			line, e := json.Marshal(v)
			err = errors.Join(err, e)
			io.WriteString(s, separator)
			s.Write(line)
			separator = ",\n"
		})
		io.WriteString(s, "]")
		return err
	}
	bansOf := func(ranges bool) func(func(any)) {
		return func(yield func(any)) {
			for _, b := range bans {
				if isRange(b.Client) == ranges {
					yield(entryOf(b))
				}
			}
		}
	}
	err := errors.Join(write("clients", bansOf(false)), write("ranges", bansOf(true)))
	if len(aside) > 0 {
		err = errors.Join(err, write("aside", func(yield func(any)) {
			for _, a := range aside {
				yield(a)
			}
		}))
	}
	return errors.Join(err, s.finish())
}

// readBans reads the form on disk. The error is one that leaves nothing to
// trust. Entries that cannot be read are put aside and reported.
func readBans(text []byte) (bans []Ban, aside []asideEntry, warnings []string, err error) {
	var file bansFile
	if err := strictJSON(text, &file); err != nil {
		return nil, nil, nil, err
	}
	if err := checkVersion(file.Version, bansVersion); err != nil {
		return nil, nil, nil, err
	}
	if file.Clients == nil || file.Ranges == nil {
		return nil, nil, nil, errors.New(`it lacks "clients" or "ranges"`)
	}
	if !summed(text) {
		warnings = append(warnings, "it was edited or damaged since Concert wrote it; what can be read of it counts")
	}
	take := func(raw json.RawMessage, where string) {
		b, err := parseBan(raw)
		if err != nil {
			aside = append(aside, asideEntry{raw, err.Error()})
			warnings = append(warnings, fmt.Sprintf("%s is kept but has no effect: %v: %s", where, err, excerpt(raw)))
			return
		}
		bans = append(bans, b)
	}
	for i, raw := range file.Clients {
		take(raw, fmt.Sprintf("entry %d of clients", i+1))
	}
	for i, raw := range file.Ranges {
		take(raw, fmt.Sprintf("entry %d of ranges", i+1))
	}
	for i, a := range file.Aside {
		take(a.Entry, fmt.Sprintf("entry %d of those put aside", i+1))
	}
	return bans, aside, warnings, nil
}

// excerpt is the beginning of an entry, for a message.
func excerpt(raw []byte) string {
	const most = 120
	if len(raw) > most {
		raw = append(bytes.Clone(raw[:most]), "..."...)
	}
	return fmt.Sprintf("%q", raw)
}
