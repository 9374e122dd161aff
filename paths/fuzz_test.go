package paths

import (
	"slices"
	"strings"
	"testing"
)

// FuzzCanonical holds any target against what must be true of every path.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		"/", "/a/b?c", "//.env", "/a/../.env", "/.git%2fconfig", "/css/%252e%252e/x", "/a;b/..;/c", `/a\..\b`, "/a%00b", "/a. /b::$DATA",
		"/%c0%ae%e0%80%af", "/%%341", "/.../. ./ /", "http://a/b", "*", "/a#b%3fc", "/%25%32%46", "/a%2F%2e./%5c",
	} {
		f.Add(seed)
	}
	table := site(f)
	f.Fuzz(func(t *testing.T, target string) {
		p := Canonical(target)
		if p.Kind == Unreadable {
			if _, listed := table.Lookup(p); p.Clean != "" || listed || Reserved(p) {
				t.Fatalf("%q is unreadable, yet %+v", target, p)
			}
			return
		}
		if !strings.HasPrefix(p.Clean, "/") || strings.Contains(p.Clean, "//") || strings.ContainsAny(p.Clean, "\\;#?\x00") {
			t.Errorf("%q has the clean form %q", target, p.Clean)
		}
		if again := Canonical(p.Clean); again.Clean != p.Clean || again.Kind != Plain || again.readings != nil {
			t.Errorf("%q has the clean form %q, which reads as %+v", target, p.Clean, again)
		}
		if p.readings != nil && (p.readings[0] != p.Clean || len(p.readings) < 2) {
			t.Errorf("%q is %q and has the readings %q", target, p.Clean, p.readings)
		}
		if p.Kind == Plain && target[0] == '/' {
			if slow := readAll(target); slow.Clean != p.Clean || slow.Kind != Plain {
				t.Errorf("%q: the scan says %+v, the readings %+v", target, p, slow)
			}
		}
		// The clean form is one reading, so the path is never looser than it.
		mustNotLoosen(t, table, target, Canonical(p.Clean))
	})
}

// protected are paths of every class, and of none.
var protected = []string{
	"/.env", "/.git/config", "/wp-content/debug.log", "/checkout", "/index.php/a/b", "/css/a.css", "/pub/a.png", "/favicon.ico", "/ws/chat",
	QueueStatus, QueueLeave, QueueReturn, "/_room/stats", "/_concert/x/y",
}

// FuzzSpelling respells known paths and holds their class against the plain one.
func FuzzSpelling(f *testing.F) {
	for i := range protected {
		f.Add(byte(i), []byte{0})
		f.Add(byte(i), []byte{1, 0, 5, 2, 8, 3, 1, 9, 4})
		f.Add(byte(i), []byte{3, 12, 0, 7, 11, 6, 10, 12, 1, 2, 4, 8})
	}
	table := site(f)
	f.Fuzz(func(t *testing.T, which byte, how []byte) {
		plain := protected[int(which)%len(protected)]
		if len(how) > 64 {
			return
		}
		target := respell(plain, how)
		p := Canonical(target)
		if p.Kind == Unreadable {
			return // is not forwarded
		}
		if !slices.ContainsFunc(append(p.readings, p.Clean), func(r string) bool { return strings.EqualFold(r, plain) }) {
			t.Errorf("%q: no reading of %q is %q", target, append(p.readings, p.Clean), plain)
		}
		if Reserved(Canonical(plain)) && !Reserved(p) {
			t.Errorf("%q is not reserved", target)
		}
		mustNotLoosen(t, table, target, Canonical(plain))
	})
}

// mustNotLoosen fails unless target has the class of plain, none, or a ban.
func mustNotLoosen(t *testing.T, table *Table[class], target string, plain Path) {
	t.Helper()
	want, _ := table.Lookup(plain)
	got, _ := table.Lookup(Canonical(target))
	if got != want && got != ban && (got != page || want == ban) {
		t.Errorf("%q is %q, yet %q is %q", target, got, plain.Clean, want)
	}
}

// endings are what some origin takes for nothing at the end of a path.
var endings = []string{"", ";x=1", ".", "%20", "%2E%20.", "#x", "?x=/css/a", "%3fx", "::$DATA", "%2523x", "%00.png"}

// respell writes plain in a way at least one kind of origin reads as plain:
// the first byte of how chooses the ending, each next one the spelling of one
// character.
func respell(plain string, how []byte) string {
	if len(how) == 0 {
		return plain
	}
	ending, how := endings[int(how[0])%len(endings)], how[1:]
	var b strings.Builder
	for i := range len(plain) {
		var choice byte
		if len(how) > 0 {
			choice, how = how[0]%14, how[1:]
		}
		// An origin either cuts at a control character or drops it.
		if choice == 13 && strings.Contains(ending, "%00") {
			choice = 0
		}
		if i == 0 {
			b.WriteByte('/') // a target that starts otherwise is no path
			if choice != 5 && choice != 6 && choice != 8 {
				continue
			}
		}
		b.WriteString(respellByte(plain[i], choice))
	}
	return b.String() + ending
}

func respellByte(c, choice byte) string {
	const hex = "0123456789abcdef"
	hi, lo := string(hex[c>>4]), string(hex[c&15])
	switch {
	case choice == 1:
		return "%" + hi + lo
	case choice == 2:
		return strings.ToUpper("%" + hi + lo)
	case choice == 3:
		return "%25" + hi + lo
	case choice == 4:
		return "%c" + string(hex[c>>6]) + "%" + string(hex[8|c>>4&3]) + lo
	case choice == 12:
		return strings.ToUpper(string(c))
	case choice == 13:
		return "%0" + lo + string(c)
	case c != '/':
		return string(c)
	}
	switch choice {
	case 5:
		return "//"
	case 6:
		return "/./"
	case 7:
		return `\`
	case 8:
		return "/x/../"
	case 9:
		return ";p=1/"
	case 10:
		return "%5c"
	case 11:
		return "./"
	}
	return "/"
}
