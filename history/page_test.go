package history

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// crowd is a history with clients of every state.
func crowd(t testing.TB, clients, entries int) *History {
	t.Helper()
	h := New(Options{Settings: Settings{On: true, Query: true}})
	h.settle(newReplay(time.Now()))
	now := time.Now()
	for i := range clients {
		ip := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		key := clientip.KeyOf(netip.MustParseAddr(ip))
		b := Ban{Target: key, Since: now.Add(-time.Minute), Source: "forged-pass"}
		switch i % 8 {
		case 0:
			h.Banned(b)
		case 1:
			b.Until = now.Add(time.Hour)
			h.Banned(b)
		case 2:
			h.Banned(b)
			h.Lifted(key, now.Add(-time.Second), "operator")
		}
		for n := range entries {
			path := fmt.Sprintf("/shop/item-%d?colour=%d", n, i)
			if i%8 < 2 {
				h.Observe(blocked(ip, path))
			} else {
				h.Observe(visit(ip, path, 200))
			}
		}
	}
	return h
}

// TestClientOrderIsThatOfSearch: the pages taken together are the list.
func TestClientOrderIsThatOfSearch(t *testing.T) { synctest.Test(t, clientOrder) }

func clientOrder(t *testing.T) {
	h := crowd(t, 40, 1)
	for i := range 40 {
		ip, path := fmt.Sprintf("10.0.0.%d", i), fmt.Sprintf("/shop?colour=%d", i)
		if v := visit(ip, path, 200); i%8 > 1 {
			h.Observe(v)
		} else {
			h.Observe(blocked(ip, path))
		}
		time.Sleep(time.Millisecond)
	}
	now := time.Now()
	for _, q := range []struct {
		text    string
		flagged bool
		matched int
	}{{"", false, 40}, {"", true, 10}, {"COLOUR=7", false, 1}, {"curl", true, 10}, {"10.0.0.39", false, 1}, {"nothing", false, 0}} {
		var want []string
		for _, c := range h.Search(q.text, q.flagged, now).Clients {
			want = append(want, c.Client)
		}
		var got []string
		for page := range slices.Chunk(h.ClientOrder(q.text, q.flagged, now), 7) {
			for _, row := range h.ClientRows(page, now) {
				got = append(got, row.Client)
			}
		}
		if !slices.Equal(got, want) || len(got) != q.matched {
			t.Errorf("%+v: got %q\nwant %q", q, got, want)
		}
	}
	if rows := h.ClientRows([]netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, now); len(rows) != 0 {
		t.Errorf("a client that is gone has a row: %v", rows)
	}
}

func TestBanRowsHaveTheirTopPaths(t *testing.T) {
	h, now := crowd(t, 16, 5), time.Now()
	all := h.BanOrder("", now)
	if len(all) != 6 || !slices.IsSortedFunc(all, func(a, b uint64) int { return int(b) - int(a) }) {
		t.Fatalf("bans %v, want six, newest first", all)
	}
	for text, want := range map[string]int{"PERMANENT": 2, "active": 2, "lifted": 2, "operator": 2, "forged": 6, "10.0.0.1": 2, "none": 0} {
		if got := h.BanOrder(text, now); text != "10.0.0.1" && len(got) != want || text == "10.0.0.1" && len(got) < want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
	h.Observe(blocked("10.0.0.0", "/shop/item-4?colour=0"))
	rows := h.BanRows(append(all, 99), now)
	if len(rows) != len(all) {
		t.Fatalf("%d rows, want %d", len(rows), len(all))
	}
	last := rows[len(rows)-1]
	if last.Target != "10.0.0.0" || len(last.Paths) != TopPaths || last.Paths["/shop/item-4?colour=0"] != 2 || last.Addresses != nil {
		t.Errorf("the oldest ban has %+v", last)
	}
}

// BenchmarkClientOrder is the worst case: every table full, and a text that is
// nowhere, so that everything is looked at.
func BenchmarkClientOrder(b *testing.B) {
	h := crowd(b, MaxClients, EntriesPerClient)
	for name, text := range map[string]string{"all": "", "filter": "sesame"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				keys := h.ClientOrder(text, false, time.Now())
				h.ClientRows(keys[:min(len(keys), 100)], time.Now())
			}
		})
	}
}
