package portal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/portal/view"
)

func fragmentOf(t *testing.T, s *signed, target string) (f view.Fragment) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.want(200, "GET", target, "")), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPagesOfTheLine(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	var clients []string
	for i := range 60 {
		clients = append(clients, fmt.Sprintf("192.0.2.%d", i+1))
	}
	ids := r.queueUp(clients...)
	for _, tt := range []struct {
		query             string
		page, pages, size int
		first, last       int // visitors from 0; -1: nobody
	}{
		{"", 1, 3, 25, 0, 24}, {"?page=2", 2, 3, 25, 25, 49}, {"?page=3", 3, 3, 25, 50, 59}, {"?page=99", 3, 3, 25, 50, 59}, {"?page=0", 1, 3, 25, 0, 24},
		{"?page=-5", 1, 3, 25, 0, 24}, {"?page=x&size=7", 1, 3, 25, 0, 24}, {"?size=50&page=2", 2, 2, 50, 50, 59}, {"?size=100", 1, 1, 100, 0, 59},
		{"?q=192.0.2.60", 1, 1, 25, 59, 59}, {"?q=NOBODY", 1, 1, 25, -1, -1}, {"?q=browser", 1, 3, 25, 0, 24}, {"?q=BROWSER&page=3", 3, 3, 25, 50, 59},
		{"?q=/shop&page=9", 3, 3, 25, 50, 59}, {"?q=browser&size=50&page=2", 2, 2, 50, 50, 59}, {"?q=" + ids[7], 1, 1, 25, 7, 7},
	} {
		f := fragmentOf(t, s, "/api/frag/queue"+tt.query)
		if f.Page != tt.page || f.Pages != tt.pages || f.Size != tt.size {
			t.Errorf("%s: page %d of %d, size %d", tt.query, f.Page, f.Pages, f.Size)
		}
		for i, id := range ids {
			if want := tt.first <= i && i <= tt.last; strings.Contains(f.HTML, id) != want {
				t.Errorf("%s: visitor %d is shown: %v", tt.query, i, !want)
			}
		}
	}
	f := fragmentOf(t, s, "/api/frag/queue?keys="+strings.Join([]string{ids[0], ids[30], ids[59], "00000000000000ff", "x"}, ","))
	want := map[string]int{ids[0]: 1, ids[30]: 2, ids[59]: 3, "00000000000000ff": 0, "x": 0}
	if fmt.Sprint(f.Where) != fmt.Sprint(want) {
		t.Errorf("where %v, want %v", f.Where, want)
	}
	f = fragmentOf(t, s, "/api/frag/queue?q=browser&size=50&keys="+ids[0]+","+ids[55]+",x")
	if want := map[string]int{ids[0]: 1, ids[55]: 2, "x": 0}; fmt.Sprint(f.Where) != fmt.Sprint(want) {
		t.Errorf("where %v, want %v", f.Where, want)
	}
	many := strings.Repeat(ids[0][:15]+"z,", 300)
	if f = fragmentOf(t, s, "/api/frag/queue?keys="+many); len(f.Where) > maxKeys {
		t.Errorf("%d keys", len(f.Where))
	}
}

func TestPagesOfTheOtherTables(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	for i := range 30 {
		s.want(200, "POST", "/api/bans", fmt.Sprintf(`{"client":"203.0.113.%d","duration":"1h"}`, i))
	}
	f := fragmentOf(t, s, "/api/frag/bans?page=2&keys=203.0.113.29,203.0.113.0,x")
	pages := []int{f.Where["203.0.113.0"], f.Where["203.0.113.29"]}
	slices.Sort(pages)
	if f.Total != 30 || f.Page != 2 || !slices.Equal(pages, []int{1, 2}) || f.Where["x"] != 0 {
		t.Errorf("bans: %+v", f)
	}
	if f = fragmentOf(t, s, "/api/frag/bans?q=203.0.113.7"); f.Total != 1 {
		t.Errorf("bans with a filter: %d", f.Total)
	}
}

// TestMarkupStaysText: what strangers send is text in every fragment and page.
func TestMarkupStaysText(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	ids := r.queueUp("192.0.2.1")
	n := r.notes.byNo[mustID(t, ids[0]).Number]
	n.path, n.agent = `/"><img src=x onerror=alert(1)>`, `<script>alert(1)</script>`
	r.notes.byNo[mustID(t, ids[0]).Number] = n
	s.want(200, "POST", "/api/bans", `{"client":"203.0.113.1","duration":"1h","note":"<script>alert(1)</script>"}`)
	for _, target := range []string{"/queue", "/bans", "/api/frag/queue", "/api/frag/bans", "/api/frag/find?q=192.0.2.1", "/api/frag/queue?q=%3Cscript%3E", "/queue?q=%22%3E%3Cscript%3E", "/access"} {
		text := s.want(200, "GET", target, "")
		var f view.Fragment
		if json.Unmarshal([]byte(text), &f) == nil {
			text = f.HTML + f.Summary
		}
		for _, bad := range []string{"<script>alert", "<img src=x", `"><script`} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %s", target, bad)
			}
		}
		if (target == "/queue" || target == "/api/frag/queue") && !strings.Contains(text, "&lt;script&gt;alert(1)") && !strings.Contains(text, "&#34;&gt;&lt;img") {
			t.Errorf("%s does not show the path or the agent:\n%s", target, text)
		}
	}
}
