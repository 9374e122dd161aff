package history

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/pipeline"
)

func key(ip string) netip.Prefix { return clientip.KeyOf(netip.MustParseAddr(ip)) }

// shown is what is remembered of a client, oldest first.
func shown(h *History, ip string) string {
	v, _ := h.Client(key(ip), time.Now())
	var b strings.Builder
	for i := len(v.Entries) - 1; i >= 0; i-- {
		e := v.Entries[i]
		fmt.Fprintf(&b, "%d %s", e.Status, e.Path)
		if e.Blocked {
			b.WriteString(" blocked")
		}
		if e.Triggered {
			b.WriteString(" triggered")
		}
		if e.Ban > 0 {
			fmt.Fprintf(&b, " by %d", e.Ban)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestWhatIsKept(t *testing.T) {
	f := func(path string, class pipeline.Class, status int, reason pipeline.Reason, kept bool) {
		t.Helper()
		h := inMemory()
		v := visit("192.0.2.1", path, status)
		v.Class, v.Reason = class, reason
		h.Observe(v)
		if got := shown(h, "192.0.2.1") != ""; got != kept {
			t.Errorf("%s of class %s, status %d, reason %q: kept %v, want %v", path, class, status, reason.Code(), got, kept)
		}
	}
	f("/", pipeline.Page, 200, pipeline.NotRefused, true)
	f("/", pipeline.Bypass, 304, pipeline.NotRefused, true)
	f("/live", pipeline.Stream, 101, pipeline.NotRefused, true)
	f("/a.css", pipeline.Asset, 200, pipeline.NotRefused, false)
	f("/a.css", pipeline.PublicAsset, 304, pipeline.NotRefused, false)
	f("/a.css", pipeline.Asset, 403, pipeline.AssetDenied, true)
	f("/a.css", pipeline.Asset, 502, pipeline.OriginDown, true)
	f("/a.css", pipeline.Asset, 429, pipeline.Banned, true)
	f("/queue/status", pipeline.Operations, 200, pipeline.NotRefused, false)
	f("/_room/healthz", pipeline.Operations, 200, pipeline.NotRefused, false)
	f("/_room/stats", pipeline.Operations, 200, pipeline.NotRefused, false)
	f("/_room/quote", pipeline.Operations, 200, pipeline.NotRefused, true)
	f("/_room/healthz", pipeline.Operations, 403, pipeline.Blocked, true)
	f("/", pipeline.Page, 499, pipeline.ClientGone, true)
}

func TestOff(t *testing.T) {
	h := inMemory()
	h.Apply(Settings{})
	h.Observe(visit("192.0.2.1", "/", 500))
	if got := shown(h, "192.0.2.1"); got != "" {
		t.Error(got)
	}
}

func TestClientFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory()
		h.Observe(visit("2001:db8::1", "/a", 200))
		time.Sleep(time.Second)
		h.Observe(visit("2001:db8::2", "/b", 404))
		v := visit("2001:db8::2", "/c", 201)
		v.R.Header.Set("User-Agent", "Mozilla/5.0")
		v.R.Method = "POST"
		time.Sleep(3 * time.Millisecond)
		h.Observe(v)
		got, _ := h.Client(key("2001:db8::"), time.Now())
		second := time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC)
		last := EntryView{At: second, IP: "2001:db8::2", Method: "POST", Path: "/c", Status: 201, LatencyUS: 3000, UA: "Mozilla/5.0"}
		want := ClientView{
			Client: "2001:db8::/64", First: second.Add(-time.Second), Last: second, Requests: 3, Errors: 1, Newest: &last,
			Entries: []EntryView{
				last,
				{At: second, IP: "2001:db8::2", Method: "GET", Path: "/b", Status: 404, UA: "curl/8.5"},
				{At: second.Add(-time.Second), IP: "2001:db8::1", Method: "GET", Path: "/a", Status: 200, UA: "curl/8.5"},
			},
			UserAgents: []string{"curl/8.5", "Mozilla/5.0"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestClientsAddressesAreExplained: the answer has what the file has.
func TestClientsAddressesAreExplained(t *testing.T) {
	h := New(Options{Settings: Settings{On: true, Query: true}, Details: owners{}})
	for _, addr := range []string{"203.0.113.9", "203.0.113.9", "192.0.2.1"} {
		h.Observe(visit(addr, "/", 200))
	}
	v, _ := h.Client(key("203.0.113.9"), time.Now())
	for i, e := range v.Entries {
		if e.Ess == nil || e.Ess.ASN != "AS218785" {
			t.Errorf("entry %d comes with %+v", i, e.Ess)
		}
	}
	stranger, _ := h.Client(key("192.0.2.1"), time.Now())
	if len(v.Entries) != 2 || len(stranger.Entries) != 1 || stranger.Entries[0].Ess != nil {
		t.Errorf("%d entries; a stranger's %+v", len(v.Entries), stranger.Entries)
	}
}

func TestOnlyTheLastRequestsAreKept(t *testing.T) {
	h := inMemory()
	for i := range 350 {
		h.Observe(visit("192.0.2.1", fmt.Sprint("/", i), 200))
	}
	v, _ := h.Client(key("192.0.2.1"), time.Now())
	if len(v.Entries) != EntriesPerClient || v.Entries[0].Path != "/349" || v.Entries[99].Path != "/250" || v.Requests != 350 {
		t.Errorf("%d entries from %s to %s of %d", len(v.Entries), v.Entries[0].Path, v.Entries[99].Path, v.Requests)
	}
}

func TestUserAgents(t *testing.T) {
	h := inMemory()
	for _, agent := range []string{"a", "b", "c", "d", "a", "e"} { // e takes the place of b
		v := visit("192.0.2.1", "/"+agent, 200)
		v.R.Header.Set("User-Agent", agent)
		h.Observe(v)
	}
	v, _ := h.Client(key("192.0.2.1"), time.Now())
	var got []string
	for _, e := range v.Entries {
		got = append(got, e.Path[1:]+"="+e.UA)
	}
	if want := "[e=e a=a d=d c=c b= a=a]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestWhatStrangersSendIsCut(t *testing.T) {
	h := inMemory()
	v := visit("192.0.2.1", "/"+strings.Repeat("ü", 1000)+"\xff?q", 200)
	v.R.Header.Set("User-Agent", "x\xffy"+strings.Repeat("z", 1000))
	v.R.Method = strings.Repeat("M", 100)
	h.Observe(v)
	got, _ := h.Client(key("192.0.2.1"), time.Now())
	e := got.Entries[0]
	if e.Path != "/"+strings.Repeat("ü", 127) || len(e.UA) != 200 || !strings.HasPrefix(e.UA, "x\uFFFDyz") || len(e.Method) != 16 {
		t.Errorf("%+v", e)
	}
}

func TestQueryStringsCanBeLeftOut(t *testing.T) {
	h := inMemory()
	h.Apply(Settings{On: true})
	h.Observe(visit("192.0.2.1", "/login?password=secret", 200))
	h.Apply(Settings{On: true, Query: true})
	h.Observe(visit("192.0.2.1", "/find?q=shoes", 200))
	if got := shown(h, "192.0.2.1"); got != "200 /login; 200 /find?q=shoes; " {
		t.Error(got)
	}
}

func TestAbsoluteTarget(t *testing.T) {
	h := inMemory()
	v := visit("192.0.2.1", "http://a.example/b?c=d", 200)
	v.R.URL = &url.URL{Scheme: "http", Host: "a.example", Path: "/b", RawQuery: "c=d"}
	h.Observe(v)
	if got := shown(h, "192.0.2.1"); got != "200 /b?c=d; " {
		t.Error(got)
	}
}

func TestRequestsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory()
		h.Observe(visit("192.0.2.1", "/", 200))
		time.Sleep(Keep)
		h.Observe(visit("192.0.2.2", "/", 200))
		h.Sweep(time.Now())
		if h.Stats().Clients != 2 {
			t.Error("forgotten too early")
		}
		time.Sleep(time.Second)
		if h.Sweep(time.Now()); h.Stats().Clients != 1 || shown(h, "192.0.2.2") == "" {
			t.Error("the wrong client is forgotten, or none")
		}
	})
}

func TestFullTable(t *testing.T) {
	h := inMemory()
	now := time.Now()
	h.Banned(banned("10.0.0.0/8", now.Add(-time.Second), now.Add(time.Hour)))
	for i := range MaxClients { // honest ones
		h.Observe(visit(fmt.Sprintf("192.0.%d.%d", i/256, i%256), "/", 200))
	}
	h.Observe(visit("192.0.0.0", "/", 200)) // not the idlest any more
	h.Observe(visit("198.51.100.1", "/", 200))
	if shown(h, "192.0.0.1") != "" || shown(h, "192.0.0.0") == "" {
		t.Error("the idlest did not make room")
	}
	for i := range 2 * MaxClients { // an attack
		h.Observe(blocked(fmt.Sprintf("10.0.%d.%d", i/256, i%256), "/"))
	}
	flagged := len(h.Search("", true, now).Clients)
	if st := h.Stats(); st.Clients != MaxClients || h.clients.flagged.Len() != maxFlagged+1 || flagged != ListedClients {
		t.Errorf("%d clients, %d of them banned; want %d, %d", st.Clients, h.clients.flagged.Len(), MaxClients, maxFlagged+1)
	}
	if shown(h, "198.51.100.1") == "" {
		t.Error("an attack pushed out the honest")
	}
}

func TestSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory()
		now := time.Now()
		h.Banned(banned("192.0.2.3/32", now, time.Time{}))
		h.Banned(banned("192.0.2.4/32", now, now.Add(time.Hour)))
		h.Banned(banned("192.0.2.5/32", now, now.Add(time.Second)))
		for _, ip := range []string{"192.0.2.3", "192.0.2.4", "192.0.2.5"} {
			h.Observe(blocked(ip, "/wp-Login.php"))
		}
		time.Sleep(2 * time.Second)
		h.Observe(visit("192.0.2.1", "/a", 200))
		time.Sleep(time.Second)
		h.Observe(visit("192.0.2.2", "/b", 200))
		f := func(text string, flagged bool, want string) {
			t.Helper()
			var got []string
			for _, c := range h.Search(text, flagged, time.Now()).Clients {
				got = append(got, c.Client[8:]+" "+c.State)
			}
			if s := strings.Join(got, ", "); s != want {
				t.Errorf("%q: %s, want %s", text, s, want)
			}
		}
		f("", false, "3 permanent, 4 active, 5 expired, 2 , 1 ")
		f("", true, "3 permanent, 4 active, 5 expired")
		f("WP-login", false, "3 permanent, 4 active, 5 expired")
		f("2.2", false, "2 ")
		f("CURL", true, "3 permanent, 4 active, 5 expired")
		f("nothing", false, "")
	})
}

func TestAnswer(t *testing.T) {
	h := inMemory()
	now := time.Now()
	h.Banned(banned("192.0.2.0/24", now, time.Time{}))
	h.Observe(blocked("192.0.2.1", "/x"))
	f := func(query string, status int, want string) {
		t.Helper()
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, body := h.Answer(q, now)
		if text := fmt.Sprintf("%+v", body); got != status || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %d with %s", query, got, text, status, want)
		}
	}
	f("client=192.0.2.1", 200, "Client:192.0.2.1")
	f("client=::ffff:192.0.2.1", 200, "Client:192.0.2.1")
	f("client=192.0.2.1/32", 200, "State:permanent")
	f("client=192.0.2.9", 404, "not in the history")
	f("client=", 400, "client must be")
	f("client=nobody", 400, "client must be")
	f("ban=1", 200, "Addresses:map[192.0.2.1:1]")
	f("ban=2", 404, "not in the history")
	f("ban=0", 400, "number")
	f("ban=x", 400, "number")
	f("", 200, "Matched:1")
}
