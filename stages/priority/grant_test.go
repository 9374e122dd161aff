package priority

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// rank asks for a page and returns the rank it was counted under.
func (r *rig) rank(options ...option) pipeline.Rank {
	r.tb.Helper()
	before := r.stage.Stats().Requests
	r.call("GET", "/a", options...)
	for rank, n := range r.stage.Stats().Requests {
		if n > before[rank] {
			return pipeline.Rank(rank)
		}
	}
	r.tb.Fatal("the request was not counted")
	return 0
}

func (r *rig) wantRank(name string, got, want pipeline.Rank) {
	r.tb.Helper()
	if got != want {
		r.tb.Errorf("%s: %v, want %v", name, got, want)
	}
}

// set returns the value of the grant cookie that a response sets; "" when it
// clears it.
func set(tb testing.TB, w *httptest.ResponseRecorder) string {
	tb.Helper()
	for _, c := range w.Result().Cookies() {
		if c.Name == grantCookie {
			return c.Value
		}
	}
	tb.Fatalf("no grant is set: %v", w.Header())
	return ""
}

// altered returns the value with another character in its middle.
func altered(value string) string {
	other := "A"
	if value[20] == 'A' {
		other = "B"
	}
	return value[:20] + other + value[21:]
}

func TestGrantsTravelInACookie(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		r.answer("checkout; ttl=45m")
		w := r.call("GET", "/a", pass("p"))
		if w.Header()[Header] != nil {
			t.Errorf("the header reached the visitor: %v", w.Header())
		}
		line := w.Header().Get("Set-Cookie")
		if _, attributes, _ := strings.Cut(line, ";"); attributes != " Path=/; HttpOnly; SameSite=Lax; Max-Age=2700" {
			t.Errorf("set as %q", line)
		}
		value := set(t, w)
		r.answer()
		r.wantRank("bound to its pass", r.rank(pass("p"), cookie(value)), pipeline.Checkout)
		r.wantRank("also when that has run out", r.rank(header("Test-Expired", "p"), cookie(value)), pipeline.Checkout)
		r.wantRank("on another pass", r.rank(pass("q"), cookie(value)), pipeline.Guest)
		r.wantRank("without a pass", r.rank(cookie(value)), pipeline.Guest)
		r.wantRank("altered", r.rank(pass("p"), cookie(altered(value))), pipeline.Guest)
		r.wantRank("behind a planted one", r.rank(pass("p"), cookie("x"), cookie(value)), pipeline.Checkout)
		time.Sleep(45 * time.Minute)
		r.wantRank("over", r.rank(pass("p"), cookie(value)), pipeline.Guest)
	})
}

func TestGrantsOfOtherKeysAndPurposesCountForNothing(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		g := grant{rank: pipeline.Staff, issued: time.Now().UnixMilli(), expires: time.Now().Add(time.Hour).Unix()}
		copy(g.pass[:], "p")
		payload := g.appendPayload(nil)
		other, err := signed.NewKeyring([][]byte{[]byte(strings.Repeat("k", signed.MinSecret))}, "pass")
		if err != nil {
			t.Fatal(err)
		}
		r.wantRank("another purpose", r.rank(pass("p"), cookie(string(other.AppendToken(nil, payload)))), pipeline.Guest)
		r.wantRank("another secret", r.rank(pass("p"), cookie(string(testKeys(t, "z").AppendToken(nil, payload)))), pipeline.Guest)
		payload[16] = byte(pipeline.NumRanks)
		r.wantRank("a rank there is not", r.rank(pass("p"), cookie(string(testKeys(t, "k").AppendToken(nil, payload)))), pipeline.Guest)
		r.wantRank("from the future", r.rank(pass("p"), r.grant("p", pipeline.Staff, -time.Hour, 2*time.Hour)), pipeline.Guest)
	})
}

// The newest grant wins: an older, higher one is worth nothing after it.
func TestOlderGrantsCannotBeReplayed(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		r.answer("staff")
		staff := set(t, r.call("GET", "/a", pass("p")))
		r.answer("member")
		member := set(t, r.call("GET", "/a", pass("p"))) // the browser withholds what it has
		r.answer()
		r.wantRank("the newest", r.rank(pass("p"), cookie(member)), pipeline.Member)
		r.wantRank("replayed after a lower one", r.rank(pass("p"), cookie(staff)), pipeline.Guest)
		r.wantRank("both", r.rank(pass("p"), cookie(staff), cookie(member)), pipeline.Member)
		r.answer("guest")
		if value := set(t, r.call("GET", "/a", pass("p"))); value != "" {
			t.Errorf("guest leaves the cookie at %q", value)
		}
		r.answer()
		r.wantRank("replayed after guest", r.rank(pass("p"), cookie(member), cookie(staff)), pipeline.Guest)
		r.answer("customer")
		customer := set(t, r.call("GET", "/a", pass("p")))
		r.answer()
		r.wantRank("granted anew", r.rank(pass("p"), cookie(customer)), pipeline.Customer)
		if st := r.stage.Stats(); st.Grants != 3 || st.Cleared != 1 || st.Outdated != 2 {
			t.Errorf("%+v", st)
		}
	})
}

// A grant of another instance, unknown here, is ended by a guest header too.
func TestGuestEndsGrantsOfOtherInstances(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		foreign := r.grant("p", pipeline.Staff, time.Minute, time.Hour)
		r.wantRank("before", r.rank(pass("p"), foreign), pipeline.Staff)
		r.answer("guest")
		r.call("GET", "/a", pass("p"), foreign)
		r.answer()
		r.wantRank("after", r.rank(pass("p"), foreign), pipeline.Guest)
	})
}

func TestGuestsAreNotRemembered(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		r.answer("guest")
		if line := r.call("GET", "/a", pass("p")).Header().Get("Set-Cookie"); !strings.Contains(line, "Max-Age=0") {
			t.Errorf("set as %q", line)
		}
		if r.stage.newest.knows([16]byte{'p'}) {
			t.Error("a guest takes room in the table")
		}
	})
}

func TestOddHeadersAreLoggedOnce(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		for range 3 {
			for i := range maxOddities + 20 {
				r.answer("staff", fmt.Sprint("vip\n", i))
				w := r.call("GET", "/a", pass("p"))
				if w.Code != 200 || w.Header()[Header] != nil || w.Header()["Set-Cookie"] != nil {
					t.Fatalf("%d, %v", w.Code, w.Header())
				}
			}
		}
		if n := strings.Count(r.log.String(), "\n"); n != maxOddities {
			t.Errorf("%d lines logged, want %d", n, maxOddities)
		}
		if st := r.stage.Stats(); st.Rejected != 3*(maxOddities+20) {
			t.Errorf("%+v", st)
		}
	})
}

// A response with one visitor's rank is for no cache that serves others.
func TestGrantsAreKeptOutOfSharedCaches(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		for value, want := range map[string]string{"staff": "private, max-age=60", "guest": "private, max-age=60", "vip": "public, max-age=60"} {
			r.answers = http.Header{Header: {value}, "Cache-Control": {"public, max-age=60"}}
			if got := r.call("GET", "/a", pass("p")).Header().Get("Cache-Control"); got != want {
				t.Errorf("%s: Cache-Control %q, want %q", value, got, want)
			}
		}
	})
}

func TestOnlyPagesGrant(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		r.answer("staff")
		if w := r.call("GET", "/asset", pass("p")); w.Header()["Set-Cookie"] != nil || r.stage.Stats().Grants != 0 {
			t.Errorf("an asset granted a rank: %v", w.Header())
		}
	})
}

func TestSecureOverTLS(t *testing.T) {
	bubble(t, 9, nil, func(r *rig) {
		r.answer("staff")
		w := r.call("GET", "/a", pass("p"), func(r *http.Request) { r.TLS = new(tls.ConnectionState) })
		if line := w.Header().Get("Set-Cookie"); !strings.Contains(line, "; Secure") {
			t.Errorf("set as %q", line)
		}
	})
}

func TestNewestIsBounded(t *testing.T) {
	var n newest
	at := func(i int) *grant {
		g := &grant{issued: int64(i), expires: 1000}
		g.pass[15] = byte(i) // all in one row
		return g
	}
	for i := range newestWidth + 3 {
		n.issue(at(i), 0)
	}
	for i := range newestWidth + 3 {
		if got, want := n.knows(at(i).pass), i >= 3; got != want {
			t.Errorf("pass %d is remembered: %v, want %v", i, got, want)
		}
	}
	n.issue(at(100), 1000) // all others are over: no harm done
	if got := n.forgotten.Load(); got != 3 {
		t.Errorf("%d forgotten, want 3", got)
	}
}

// Two grants of one millisecond are still one after the other.
func TestNewestTellsGrantsOfOneInstantApart(t *testing.T) {
	var n newest
	first, second := grant{issued: 5, expires: 10}, grant{issued: 5, expires: 10}
	n.issue(&first, 0)
	n.issue(&second, 0)
	if n.allows(&first) || !n.allows(&second) {
		t.Errorf("first at %d, second at %d", first.issued, second.issued)
	}
}

// Only what the keyring signed for this pass counts, whatever surrounds it.
func FuzzCookieHeader(f *testing.F) {
	keys := testKeys(f, "k")
	now := time.Unix(1_800_000_000, 0)
	g := grant{rank: pipeline.Staff, issued: now.UnixMilli(), expires: now.Add(time.Hour).Unix()}
	copy(g.pass[:], "p")
	good := grantCookie + "=" + string(keys.AppendToken(nil, g.appendPayload(nil)))
	for _, seed := range []string{"", grantCookie, grantCookie + "=; " + good, good + "; a=b", good + "x", "a=" + good, good[:30] + "A" + good[31:]} {
		f.Add(seed)
	}
	s := &Stage{}
	c := &settings{Config: Config{Grants: keys}, cookieName: grantCookie}
	granted := func(line string) (grant, bool) {
		v := &pipeline.Visit{Start: now, R: &http.Request{Header: http.Header{"Cookie": {line}}}}
		v.Pass.State = pipeline.PassValid
		copy(v.Pass.ID[:], "p")
		return s.granted(c, v)
	}
	if got, ok := granted(good); !ok || got != g {
		f.Fatalf("a good cookie grants %+v, %v", got, ok)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := granted(line)
		if _, value, _ := strings.Cut(good, "="); ok && (got != g || !strings.Contains(line, value)) {
			t.Errorf("%q grants %+v", line, got)
		}
	})
}

// Whatever a payload says, reading it does no harm and is the reverse of
// writing it.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(nil))
	f.Add((&grant{rank: pipeline.Staff, issued: 1, expires: 2}).appendPayload(nil))
	f.Add([]byte(strings.Repeat("\xff", payloadSize)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		g, ok := parsePayload(payload)
		if ok && string(g.appendPayload(nil)) != string(payload) {
			t.Errorf("%x is read as %+v", payload, g)
		}
		if ok && g.counts(g.pass, time.Unix(1_800_000_000, 0)) && g.rank >= pipeline.NumRanks {
			t.Errorf("%x counts as rank %d", payload, g.rank)
		}
	})
}
