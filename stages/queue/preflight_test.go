package queue

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// corsOrigin is an origin that answers preflights.
type corsOrigin struct {
	*rig
	status int
	header http.Header
	asked  int
}

func (o *corsOrigin) Serve(v *pipeline.Visit) error {
	o.asked++
	h := v.W.Header()
	for name, values := range o.header {
		h[name] = values
	}
	v.EditResponse(o.status, h)
	v.W.WriteHeader(o.status)
	return nil
}

func preflight(options ...option) []option {
	return append([]option{header("Origin", "https://app.example"), header("Access-Control-Request-Method", "PUT"),
		header("Access-Control-Request-Headers", "content-type")}, options...)
}

func allow(age string) http.Header {
	h := http.Header{"Access-Control-Allow-Origin": {"https://app.example"}, "Access-Control-Allow-Methods": {"GET, PUT"}, "Server": {"o"}}
	if age != "" {
		h["Access-Control-Max-Age"] = []string{age}
	}
	return h
}

func newCorsRig(t *testing.T, o *corsOrigin, now *time.Time) {
	t.Helper()
	settings := oneSlot()
	settings.DoorMax = 0
	o.rig = newRig(t, newLine(settings), func(c *Config) { c.Now = func() time.Time { return *now } })
	if err := o.p.Swap(pipeline.Config{Resolver: o.resolver(), Origin: o, Renderer: pipeline.NewRenderer(nil), Log: o.log()}, before{}, o.stage); err != nil {
		t.Fatal(err)
	}
}

// TestPreflightIsAnsweredAsTheOriginDid asks while a slot is free, and again
// when the site is busy.
func TestPreflightIsAnsweredAsTheOriginDid(t *testing.T) {
	now := time.Now()
	o := &corsOrigin{status: http.StatusNoContent, header: allow("60")}
	newCorsRig(t, o, &now)
	first := o.do("OPTIONS", "/api/orders", preflight()...)
	if first.Code != http.StatusNoContent || o.asked != 1 {
		t.Fatalf("status %d, the origin was asked %d times", first.Code, o.asked)
	}
	release := o.fill()
	busy := o.do("OPTIONS", "/api/orders", preflight()...)
	if busy.Code != http.StatusNoContent || busy.Header().Get("Access-Control-Allow-Methods") != "GET, PUT" || o.asked != 1 {
		t.Errorf("status %d, header %v, asked %d times", busy.Code, busy.Header(), o.asked)
	}
	if busy.Header().Get("Server") != "" || busy.Header()["Set-Cookie"] != nil || busy.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", busy.Header())
	}
	if n := o.stage.Stats().Preflights; n != 1 || o.live() != 0 {
		t.Errorf("%d answered, %d in line", n, o.live())
	}
	for name, other := range map[string][]option{
		"another path":    nil,
		"another site":    {header("Origin", "https://evil.example"), header("Access-Control-Request-Method", "PUT"), header("Access-Control-Request-Headers", "content-type")},
		"another method":  {header("Origin", "https://app.example"), header("Access-Control-Request-Method", "DELETE"), header("Access-Control-Request-Headers", "content-type")},
		"another header":  {header("Origin", "https://app.example"), header("Access-Control-Request-Method", "PUT"), header("Access-Control-Request-Headers", "x-y")},
		"no preflight":    {header("Origin", "https://app.example")},
		"no other origin": {header("Access-Control-Request-Method", "PUT")},
	} {
		path := "/api/orders"
		if other == nil {
			path, other = "/api/other", preflight()
		}
		if w := o.do("OPTIONS", path, other...); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	now = now.Add(60 * time.Second)
	if w := o.do("OPTIONS", "/api/orders", preflight()...); w.Code != http.StatusServiceUnavailable {
		t.Errorf("after its time: status %d", w.Code)
	}
	release()
	if o.do("OPTIONS", "/api/orders", preflight()...); o.asked != 2 {
		t.Errorf("with a slot free the origin was asked %d times, want twice", o.asked)
	}
}

func TestWhatIsRememberedOfPreflights(t *testing.T) {
	long := strings.Repeat("x", maxPreflightKey)
	for _, tt := range []struct {
		name       string
		status     int
		header     http.Header
		options    []option
		remembered bool
	}{
		{"allowed", 200, allow(""), nil, true},
		{"allowed for long", 200, allow("99999999999999999999"), nil, true},
		{"refused", 403, allow("60"), nil, false},
		{"without rules", 204, http.Header{}, nil, false},
		{"never to be remembered", 204, allow("0"), nil, false},
		{"negative", 204, allow("-1"), nil, false},
		{"too long a question", 204, allow("60"), []option{header("Access-Control-Request-Headers", long)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Now()
			o := &corsOrigin{status: tt.status, header: tt.header}
			newCorsRig(t, o, &now)
			o.do("OPTIONS", "/api", preflight(tt.options...)...)
			o.fill()
			w := o.do("OPTIONS", "/api", preflight(tt.options...)...)
			if got := w.Code == http.StatusNoContent; got != tt.remembered {
				t.Errorf("status %d while busy", w.Code)
			}
		})
	}
}

func TestPreflightAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": defaultPreflightAge, "60": time.Minute, " 60": time.Minute, "86400": maxPreflightAge, "x": defaultPreflightAge, "0": 0, "-5": -5 * time.Second,
		"4611686018427387904": maxPreflightAge,
	} {
		h := http.Header{}
		if text != "" {
			h["Access-Control-Max-Age"] = []string{text}
		}
		if got := preflightAge(h); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestPreflightTableIsBounded asks more questions than are remembered.
func TestPreflightTableIsBounded(t *testing.T) {
	var table preflightTable
	now := time.Now()
	for i := range rememberedPreflights + 1 {
		for range 2 {
			table.remember(preflightAnswer{question: strings.Repeat("q", i+1), until: now.Add(time.Second), header: http.Header{}})
		}
	}
	if table.find(now, "q") != nil {
		t.Error("the first is still there")
	}
	for _, i := range []int{2, rememberedPreflights + 1} {
		if table.find(now, strings.Repeat("q", i)) == nil {
			t.Errorf("number %d is forgotten", i)
		}
	}
}
