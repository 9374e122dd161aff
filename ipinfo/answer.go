package ipinfo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The names under which a service may say each thing, the first that is there
// counts: the short ones of the history log, those of naddr-like services, and
// those of the IPtoASN web service.
var (
	asnNames     = []string{"n", "as_number", "asn", "as"}
	codeNames    = []string{"cc", "country_code", "as_country_code", "country"}
	textNames    = []string{"desc", "description", "as_description", "organization", "org", "name"}
	rangeNames   = []string{"range", "cidr", "prefix", "network"}
	firstNames   = []string{"first_ip", "range_start", "first", "start"}
	lastNames    = []string{"last_ip", "range_end", "last", "end"}
	answerLevels = 3 // objects within objects that are looked into
)

// parseAnswer reads a JSON answer about a. It reports false when the answer
// names neither a network nor a country. What does not make sense is left out,
// never shown.
func parseAnswer(a netip.Addr, body []byte) (Details, bool, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return Details{}, false, fmt.Errorf("read the answer for %s: %w", a, err)
	}
	if object == nil {
		return Details{}, false, errors.New("read the answer: not an object")
	}
	fields := map[string]string{}
	flatten(fields, object, answerLevels)
	d := Details{Addr: a, Code: NoCountry, ASN: readASN(pick(fields, asnNames)), Description: cleanText(pick(fields, textNames))}
	for _, name := range codeNames {
		if code, ok := countryCode(strings.ToUpper(fields[name])); ok {
			d.Code = code
			break
		}
	}
	d.First, d.Last = readRange(a, fields)
	return d, d.ASN != 0 || d.Code != NoCountry, nil
}

// flatten collects texts and numbers under their names in small letters. Outer
// ones win.
func flatten(into map[string]string, object map[string]any, levels int) {
	var inner []map[string]any
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch value := object[name].(type) {
		case string:
			set(into, name, value)
		case json.Number:
			set(into, name, value.String())
		case map[string]any:
			inner = append(inner, value)
		}
	}
	for _, o := range inner {
		if levels > 1 {
			flatten(into, o, levels-1)
		}
	}
}

func set(into map[string]string, name, value string) {
	name = strings.ToLower(name)
	if into[name] == "" {
		into[name] = value
	}
}

func pick(fields map[string]string, names []string) string {
	for _, name := range names {
		if v := fields[name]; v != "" {
			return v
		}
	}
	return ""
}

// readASN reads 64496 or AS64496; anything else is 0.
func readASN(text string) uint32 {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToUpper(text), "AS"), 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// readRange returns the range around a, or zero addresses.
func readRange(a netip.Addr, fields map[string]string) (first, last netip.Addr) {
	text := pick(fields, rangeNames)
	if p, err := netip.ParsePrefix(text); err == nil && p.Contains(a) {
		return p.Masked().Addr(), lastOf(p)
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		from, to = pick(fields, firstNames), pick(fields, lastNames)
	}
	first, err1 := netip.ParseAddr(strings.TrimSpace(from))
	last, err2 := netip.ParseAddr(strings.TrimSpace(to))
	contains := first.BitLen() == a.BitLen() && last.BitLen() == a.BitLen() && !a.Less(first) && !last.Less(a)
	if err1 != nil || err2 != nil || !contains {
		return netip.Addr{}, netip.Addr{}
	}
	return first.WithZone(""), last.WithZone("")
}

// lastOf returns the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	k, free := keyOf(p.Masked().Addr()), lowBits(p.Addr().BitLen()-p.Bits())
	k.hi, k.lo = k.hi|free.hi, k.lo|free.lo
	if p.Addr().Is4() {
		return addr4(uint32(k.lo))
	}
	return addr6(k)
}
