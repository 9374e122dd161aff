package cookies

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzStrip checks two header lines (the input is cut at a NUL): none of our
// cookies is left for net/http to see, every other cookie is left as it was
// and in order, what is left is a subsequence of what was sent, and stripping
// again changes nothing.
func FuzzStrip(f *testing.F) {
	for _, seed := range []string{
		"", "\x00", ";", "room_ticket=x",
		`a=1; prefs={"k":1}; caf=é; sp=a b; concert_admit=x`,
		"room_ticket=x; a=1; room_probe=1;b=2;\x00concert_admit=y",
		"xroom_ticket=1; room_ticket2=2; Room_Ticket=3\x00 room_ticket =1",
		"; ;room_ticket;=; a==; \t;",
		`q="a; room_ticket=1; b"`,
		"room_ticket.checkout=1; room_ticketx.a=2; a.room_ticket=3; room_ticket.=4",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := strings.SplitN(text, "\x00", 2)
		h := http.Header{"Cookie": slices.Clone(before)}
		stripped := strip(h, ours)
		after := slices.Clone(h["Cookie"])

		if !stripped && !slices.Equal(before, after) {
			t.Fatalf("%q became %q in silence", before, after)
		}
		wantNoneOfOurs(t, h)
		if got, want := others(after), others(before); !slices.Equal(got, want) {
			t.Fatalf("%q left %q, want %q", before, got, want)
		}
		if !subsequence(strings.Join(after, ""), strings.Join(before, "")) {
			t.Fatalf("%q is not part of %q", after, before)
		}
		if strip(h, ours) || !slices.Equal(h["Cookie"], after) {
			t.Fatalf("stripped again: %q became %q", after, h["Cookie"])
		}
	})
}

func wantNoneOfOurs(t *testing.T, h http.Header) {
	t.Helper()
	for _, c := range (&http.Request{Header: h}).Cookies() {
		if base, _, _ := strings.Cut(c.Name, "."); slices.Contains(ours, base) {
			t.Fatalf("%q is left in %q", c.Name, h["Cookie"])
		}
	}
	for _, name := range ours {
		for value := range Each(h, name) {
			t.Fatalf("%q is left with %q", name, value)
		}
	}
}

// others returns the cookies that are not ours, empty ones left out, by a
// plainer way than Strip's.
func others(lines []string) []string {
	var all []string
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(pair, "=")
			base, _, _ := strings.Cut(textproto.TrimString(name), ".") // a room's go on behind a dot
			if strings.TrimSpace(pair) != "" && !slices.Contains(ours, base) {
				all = append(all, strings.TrimLeft(pair, " \t"))
			}
		}
	}
	return all
}

// subsequence reports whether s can be had from of by leaving bytes out.
func subsequence(s, of string) bool {
	for i := 0; i < len(of) && s != ""; i++ {
		if of[i] == s[0] {
			s = s[1:]
		}
	}
	return s == ""
}

// After KeepPrivate no header invites a shared cache, and doing it twice is
// doing it once.
func FuzzKeepPrivate(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	for _, seed := range []string{"public", `private="a,b", max-age=1`, `x="\", public`, "s-maxage=1,,", "no-store"} {
		f.Add(seed, "", "X-Accel-Expires")
	}
	f.Add("", "Fri, 01 Jan 2100 00:00:00 GMT", "Cdn-Cache-Control")
	f.Fuzz(func(t *testing.T, control, expires, targeted string) {
		h := http.Header{"Cache-Control": {control}, "Expires": {expires}, targeted: {"max-age=1"}}
		KeepPrivate(h, now)
		if offered(h, now) || hasTargeted(h) {
			t.Errorf("Cache-Control %q, Expires %q, %s: left at %q", control, expires, targeted, h)
		}
		once := h.Clone()
		KeepPrivate(h, now)
		if h.Get("Cache-Control") != once.Get("Cache-Control") {
			t.Errorf("%q becomes %q, then %q", control, once, h)
		}
	})
}
