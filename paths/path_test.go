package paths

import (
	"slices"
	"strings"
	"testing"
)

func TestCleanForm(t *testing.T) {
	for _, tt := range []struct {
		name, target, clean string
		kind                Kind
	}{
		{"root", "/", "/", Plain},
		{"page with query", "/shop/cart?x=/.env", "/shop/cart", Plain},
		{"query that looks like escapes", "/a?b=%2e%2e//", "/a", Plain},
		{"directory", "/dir/", "/dir/", Plain},
		{"hidden file", "/.well-known/acme-challenge/x", "/.well-known/acme-challenge/x", Plain},
		{"dots inside names", "/a..b/v1.2/c.d", "/a..b/v1.2/c.d", Plain},
		{"colon", "/wiki/Special:Search", "/wiki/Special:Search", Plain},
		{"raw UTF-8", "/caf\xc3\xa9", "/café", Plain},
		{"absolute form", "http://evil.example/a?b", "/a", Plain},
		{"absolute form without path", "http://evil.example?b", "/", Plain},

		{"encoded letters", "/%63ss/%41.css", "/css/A.css", Spelled},
		{"encoded dot of a name", "/%2Eenv", "/.env", Spelled},
		{"encoded space inside", "/my%20file.pdf", "/my file.pdf", Spelled},
		{"encoded UTF-8", "/caf%C3%A9", "/café", Spelled},
		{"encoded Latin-1", "/caf%E9", "/caf\xe9", Spelled},
		{"lone percent sign", "/100%25", "/100%", Spelled},
		{"no escape", "/%zz%", "/%zz%", Plain},

		{"doubled slash", "/a//b", "/a/b", Ambiguous},
		{"leading slashes", "///.git/config", "/.git/config", Ambiguous},
		{"encoded slash", "/api/exchanges/%2F/amq.direct", "/api/exchanges/amq.direct", Ambiguous},
		{"encoded URL", "/r/https%3A%2F%2Fexample.com", "/r/https:/example.com", Ambiguous},
		{"parameters", "/a;x=1/b;y", "/a/b", Ambiguous},
		{"encoded question mark", "/index.php%3f/favicon.ico", "/index.php", Ambiguous},
		{"fragment", "/index.php#/favicon.ico", "/index.php", Ambiguous},
		{"trailing dot", "/favicon.ico.", "/favicon.ico", Ambiguous},
		{"trailing space", "/favicon.ico%20", "/favicon.ico", Ambiguous},
		{"trailing dot of a directory", "/.git./config", "/.git/config", Ambiguous},
		{"data stream", "/.env::$DATA", "/.env", Ambiguous},
		{"encoded twice", "/50%2541", "/50A", Ambiguous},
		{"three dots", "/a/.../b", "/a/b", Ambiguous},

		{"dot segment", "/./.env", "/.env", Crafted},
		{"parent segment", "/a/../.env", "/.env", Crafted},
		{"encoded parent segment", "/css/%2e%2e/checkout", "/checkout", Crafted},
		{"parent of the root", "/../../etc", "/etc", Crafted},
		{"parent at the end", "/a/b/..", "/a/", Crafted},
		{"dot at the end", "/a/b/.", "/a/b/", Crafted},
		{"parent segment behind an encoded slash", "/css%2f..%2fcheckout", "/checkout", Crafted},
		{"parent segment with parameter", "/css/..;/checkout", "/checkout", Crafted},
		{"parent segment with space", "/css/..%20/checkout", "/checkout", Crafted},
		{"parent segment encoded twice", "/css/%252e%252e/checkout", "/checkout", Crafted},
		{"parent segment encoded five times", "/css/.%2525252525252e/checkout", "/checkout", Crafted},
		{"parent segment in overlong UTF-8", "/css/%c0%ae%e0%80%ae/checkout", "/checkout", Crafted},
		{"slash in overlong UTF-8", "/css/..%c0%afcheckout", "/checkout", Crafted},
		{"backslash", `/css\..\checkout`, "/checkout", Crafted},
		{"encoded backslash", "/.git%5cconfig", "/.git/config", Crafted},
		{"NUL", "/favicon.ico%00.php", "/favicon.ico", Crafted},
		{"raw control character", "/favicon.ico\x01x", "/favicon.ico", Crafted},
		{"raw delete", "/favicon.ico\x7f", "/favicon.ico", Crafted},
		{"raw overlong UTF-8", "/\xc0\xaeenv", "/.env", Crafted},
		{"raw space at the end", "/.env ", "/.env", Ambiguous},
		{"line feed", "/.env%0a", "/.env", Crafted},

		{"star", "*", "", Unreadable},
		{"empty", "", "", Unreadable},
		{"authority", "example.com:443", "", Unreadable},
		{"relative", "a/b", "", Unreadable},
		{"absolute form with fragment only", "http://a#/b", "", Unreadable},
		{"absolute form without scheme", "://a/b", "", Unreadable},
		{"too many readings", "/" + strings.Repeat("%2F%5c;a.%00%2541/", 100), "", Unreadable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Canonical(tt.target)
			if p.Clean != tt.clean || p.Kind != tt.kind {
				t.Errorf("Canonical(%q) = %q, %v; want %q, %v", tt.target, p.Clean, p.Kind, tt.clean, tt.kind)
			}
		})
	}
}

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		target string
		want   []string
	}{
		{"/a", []string{"/a"}},
		{"/%61", []string{"/a"}},
		{"/a//b", []string{"/a/b", "/a//b"}},
		{"/a%2Fb", []string{"/a/b", "/a%2Fb"}},
		{"/a;x", []string{"/a", "/a;x"}},
		{"/a/../b", []string{"/b", "/a/../b"}},
		// Merging first or resolving first leads to different places.
		{"/.git//../config", []string{"/config", "/.git/config", "/.git/../config", "/.git//../config"}},
		{"/a%00b", []string{"/a", "/ab", "/a\x00b"}},
		{"/a%5Cb", []string{"/a/b", `/a\b`}},
		{"/%2541", []string{"/A", "/%41"}},
		{"/a.", []string{"/a", "/a."}},
		{"/a%23b", []string{"/a", "/a#b"}},
	} {
		p := Canonical(tt.target)
		var got []string
		p.each(func(r string) bool { got = append(got, r); return true })
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("readings of %q: %q, want %q", tt.target, got, tt.want)
		}
	}
}

func TestPathOfHonestLengthIsReadable(t *testing.T) {
	long := "/r/" + strings.Repeat("https%3A%2F%2Fexample.com%3Fa;", 280) // 8 KiB, three habits
	if p := Canonical(long[:8192]); p.Kind != Ambiguous {
		t.Errorf("8 KiB of encoded addresses are %v", p.Kind)
	}
	plain := "/" + strings.Repeat("a/", 500_000)
	if p := Canonical(plain); p.Kind != Plain || p.Clean != plain {
		t.Errorf("a long plain path is %v", p.Kind)
	}
}

func TestKindNames(t *testing.T) {
	var got []string
	for k := Plain; k <= Unreadable; k++ {
		got = append(got, k.String())
	}
	if want := "plain spelled ambiguous crafted unreadable"; strings.Join(got, " ") != want {
		t.Errorf("kinds are %v, want %s", got, want)
	}
}

func TestReservedInEverySpelling(t *testing.T) {
	for _, target := range []string{
		"/queue/status", "/queue/status?x", "/queue/status/", "/queue/leave", "/queue/return", "/queue/return?to=/", "/Queue/STATUS", "/queue%2fstatus", "//queue/status",
		"/queue/./status", "/queue/x/../status", "/%71ueue/status", `/queue\status`, "/queue/status;x", "/queue/status%00", "/queue/status.",
		"/_room", "/_room/", "/_room/stats", "/_room/stats/", "/_room/unknown", "/%5froom/cap", "/_ROOM/cap", "/a/../_room/cap",
		"//_room/x", "/_room;a/x", "/_room%2fx", "/%255froom/x", "/_concert", "/_concert/x", "http://evil.example/_room/x",
		"/_room/../index.php", // an origin that does not resolve dots would see our tree
	} {
		if !Reserved(Canonical(target)) {
			t.Errorf("%s is not reserved", target)
		}
	}
	for _, target := range []string{
		"/", "/queue", "/queue/", "/queue/statuses", "/queue/status/x", "/queue/list", "/_roomy", "/_rooms/x", "/_concerts", "/x/_room",
		"/_", "/?/_room/stats", "/index.php?p=/queue/status", "*", "",
	} {
		if Reserved(Canonical(target)) {
			t.Errorf("%s is reserved", target)
		}
	}
}
