package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	entry := func(s int) EntryView { return EntryView{At: at(s), Path: "/"} }
	newest := entry(9)
	got := Merge([]ClientView{
		{Client: "b", First: at(3), Last: at(5), Requests: 1, Errors: 1, Entries: []EntryView{entry(5), entry(3)}, UserAgents: []string{"x"}},
		{Client: "a", First: at(1), Last: at(2), Requests: 1},
		{Client: "b", First: at(2), Last: at(9), Requests: 2, Blocked: 1, State: StateActive, Until: at(99), Newest: &newest,
			Entries: []EntryView{entry(9), entry(2)}, UserAgents: []string{"x", "y"}, Bans: []BanView{{Number: 7}}},
		{Client: "c", First: at(7), Last: at(7), Requests: 1},
	})
	want := []ClientView{
		{Client: "b", First: at(2), Last: at(9), Requests: 3, Blocked: 1, Errors: 1, State: StateActive, Until: at(99), Newest: &newest,
			Entries: []EntryView{entry(9), entry(5), entry(3), entry(2)}, UserAgents: []string{"x", "y"}, Bans: []BanView{{Number: 7}}},
		{Client: "c", First: at(7), Last: at(7), Requests: 1},
		{Client: "a", First: at(1), Last: at(2), Requests: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	many := ClientView{Client: "d", Entries: make([]EntryView, EntriesPerClient)}
	if got := Merge([]ClientView{many, many}); len(got) != 1 || len(got[0].Entries) != EntriesPerClient {
		t.Errorf("%d clients, the first with %d requests", len(got), len(got[0].Entries))
	}
}
