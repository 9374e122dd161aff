package portal

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal/view"
)

// others are the portals that one can ask; nil is an instance that is silent.
type others map[string]*rig

func (o others) Instances() (names []string, me string) {
	names = []string{"a-1"}
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, "a-1"
}

func (o others) Ask(ctx context.Context, instance, what, query string) (json.RawMessage, error) {
	if o[instance] == nil {
		return nil, errors.New(instance + " does not answer")
	}
	return o[instance].Answer(ctx, what, query)
}

func (o others) Away() string {
	if len(o) == 0 {
		return "Redis is away."
	}
	return ""
}

// saw has a portal's history hold a request.
func (r *rig) saw(ip, path string) {
	q := httptest.NewRequest("GET", path, nil)
	q.Header.Set("User-Agent", "Browser")
	addr := netip.MustParseAddr(ip)
	v := &pipeline.Visit{R: q, Start: time.Now(), Class: pipeline.Page, Client: clientip.Client{Addr: addr, Key: clientip.KeyOf(addr)}}
	v.Hijacked(200)
	r.History.Observe(v)
}

// fleetOf is a portal that knows of b-2, and of c-3, which is silent.
func fleetOf(t *testing.T) (a *signed, b *rig) {
	t.Helper()
	r, b := newRig(t), newRig(t)
	r.Peers = others{"b-2": b, "c-3": nil}
	r.saw("192.0.2.1", "/only-a")
	r.saw("192.0.2.3", "/both-a")
	b.saw("192.0.2.2", "/only-b")
	b.saw("192.0.2.3", "/both-b")
	return r.signIn(operatorPass), b
}

// TestFullName: what operators call an instance is enough where it is one.
func TestFullName(t *testing.T) {
	names := []string{"shop-1-x1", "shop-1-x2", "shop-2-x3", "till", "till-x4"}
	for name, want := range map[string]string{
		"shop-2": "shop-2-x3", "shop-2-x3": "shop-2-x3", "shop-1": "shop-1", "till": "till", "": "", "all": "all",
	} {
		if got := fullName(names, name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestHistoryOfInstances(t *testing.T) {
	s, _ := fleetOf(t)
	clients := func(target string) (out []string) {
		var l Listing
		if err := json.Unmarshal([]byte(s.want(200, "GET", target, "")), &l); err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Clients {
			out = append(out, c.Client)
		}
		slices.Sort(out)
		return out
	}
	for query, want := range map[string][]string{
		"": {"192.0.2.1", "192.0.2.3"}, "?instance=this": {"192.0.2.1", "192.0.2.3"}, "?instance=a-1": {"192.0.2.1", "192.0.2.3"},
		"?instance=b-2": {"192.0.2.2", "192.0.2.3"}, "?instance=b-2&q=only": {"192.0.2.2"}, "?instance=b&q=only": {"192.0.2.2"}, "?instance=a&q=only": {"192.0.2.1"},
		"?instance=all": {"192.0.2.1", "192.0.2.2", "192.0.2.3"}, "?instance=all&q=only": {"192.0.2.1", "192.0.2.2"},
	} {
		if diff := cmp.Diff(want, clients("/api/history"+query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	var c history.ClientView
	if err := json.Unmarshal([]byte(s.want(200, "GET", "/api/history/client?client=192.0.2.3&instance=all", "")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Requests != 2 || len(c.Entries) != 2 || c.Entries[0].Path != "/both-b" || c.Entries[1].Path != "/both-a" {
		t.Errorf("a client of two instances is %+v", c)
	}
	s.want(200, "GET", "/api/history/client?client=192.0.2.2&instance=all", "", "/only-b")
	s.want(404, "GET", "/api/history/client?client=192.0.2.9&instance=all", "", "not in the history")
	s.want(404, "GET", "/api/history/client?client=192.0.2.1&instance=b-2", "", "not in the history")
	s.want(404, "GET", "/api/history?instance=d-4", "", "there are a-1, b-2, c-3, and all")
	s.want(502, "GET", "/api/history?instance=c-3", "", "c-3 does not answer")
}

// TestChoiceOfInstances: pages of another instance are those that its own portal
// shows, the choice is offered on them, and a browser remembers it.
func TestChoiceOfInstances(t *testing.T) {
	s, b := fleetOf(t)
	if body := s.want(200, "GET", "/visitors", "", "a-1 (this one)", `instance=b-2"`); strings.Contains(body, "only-b") {
		t.Error("without a choice there are visitors of another instance")
	}
	w := s.call("GET", "/visitors?instance=b-2&open=192.0.2.2", "")
	var remembered *http.Cookie
	for _, c := range w.Result().Cookies() {
		if c.Name == instanceCookie {
			remembered = c
		}
	}
	if body := w.Body.String(); w.Code != 200 || remembered == nil || strings.Contains(body, "/only-a") || strings.Count(body, "/only-b") < 3 {
		t.Fatalf("the page of another instance: %d, cookie %v, %s", w.Code, remembered, body)
	}
	frag := s.call("GET", "/api/frag/visitors?page=1", "", withCookie(*remembered)).Body.String()
	if !strings.Contains(frag, "only-b") || strings.Contains(frag, "only-a") {
		t.Errorf("a fragment for a browser that remembers: %s", frag)
	}
	s.want(200, "GET", "/visitors?instance=all&open=192.0.2.3", "", "/only-a", "/only-b", "/both-a", "/both-b", "does not answer")
	s.want(200, "GET", "/api/frag/visitor?client=192.0.2.3&instance=all", "", "/both-a", "/both-b")
	s.want(200, "GET", "/banlog?instance=b-2", "", "Ban log")
	s.Peers = others{"c-3": nil}
	if w := s.call("GET", "/visitors", "", withCookie(*remembered)); w.Code != 200 || !strings.Contains(w.Body.String(), "/only-a") {
		t.Errorf("when the remembered instance is gone: %d", w.Code)
	}
	s.Peers = others{}
	s.want(200, "GET", "/", "", "Redis is away.")
	if w := b.signIn(viewerPass).call("GET", "/visitors", ""); strings.Contains(w.Body.String(), "instance=") {
		t.Error("a line of one's own offers a choice")
	}
}

// TestAnswersNothingElse: portals ask each other only for what their pages show.
func TestAnswersNothingElse(t *testing.T) {
	r := newRig(t)
	for what, query := range map[string]string{"sessions": "", "settings": "", "visitors": "%zz", "client": "client=x"} {
		_, err := r.Answer(t.Context(), what, query)
		if refused, ok := errors.AsType[*fleet.Refused](err); !ok || refused.Status != http.StatusBadRequest {
			t.Errorf("%s %s: %v", what, query, err)
		}
	}
}

// TestPagesBetweenInstances: what goes over the wire is all that a page needs.
func TestPagesBetweenInstances(t *testing.T) {
	_, b := fleetOf(t)
	body, err := b.Answer(t.Context(), "visitors", "open=192.0.2.2&size=50&q=only")
	if err != nil {
		t.Fatal(err)
	}
	var got view.VisitorsPage
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 1 || got.Size != 50 || got.Query != "only" || len(got.Rows) != 1 || got.Rows[0].Detail == nil ||
		len(got.Rows[0].Detail.Entries) != 1 || got.Rows[0].Detail.Total != 1 || got.Rows[0].Newest.Path != "/only-b" {
		t.Errorf("the page is %+v of %s", got, body)
	}
}
