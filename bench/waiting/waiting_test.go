package waiting

import (
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// TestRun has a thousand wait for a moment.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	binary, err := launch.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const visitors = 1000
	// The first of the line ask every few seconds; each is due at least once, where
	// the machine does not stand still meanwhile.
	var r *Report
	for watch := 4 * time.Second; watch < time.Minute && (r == nil || r.Polls < visitors/20); watch *= 2 {
		if r, err = Run(t.Context(), Settings{Visitors: visitors, Watch: watch, Binary: binary}); err != nil {
			t.Fatal(err)
		}
	}
	if r.Polls < visitors/20 || r.P50 <= 0 || r.P99 < r.P50 || r.Max < r.P99 {
		t.Errorf("%d polls, %v, %v, %v", r.Polls, r.P50, r.P99, r.Max)
	}
	const mib = 1 << 20
	if r.Start < mib || r.Joined <= r.Start || r.Peak < r.Joined || r.Peak > 200*mib {
		t.Errorf("memory %d, %d, %d", r.Start, r.Joined, r.Peak)
	}
	if r.PageCPU <= 0 || r.CPU <= 0 {
		t.Errorf("processor time %v and %v", r.PageCPU, r.CPU)
	}
	if text := r.String(); !strings.Contains(text, "| 1000 | ") {
		t.Errorf("report %s", text)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := Run(t.Context(), Settings{Visitors: 999, Watch: 2 * time.Hour})
	for _, want := range []string{"visitors 999", "watch 2h"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestVisitorsDoAsTheyAreTold(t *testing.T) {
	const page = `<main id="room" data-poll="3000">`
	for _, tt := range []struct {
		called, next bool
		status       int
		body         string
		pause        time.Duration // -1: an error
	}{
		{false, false, 200, `{"ready":false,"poll_after_ms":2500,"state":"waiting"}`, 2500 * time.Millisecond},
		{false, true, 200, `{"ready":true}`, 0},
		{true, false, 200, page, 3 * time.Second},
		{true, false, 503, page, -1}, {false, false, 429, `{"poll_after_ms":1}`, -1}, {false, false, 200, "", -1},
		{false, false, 200, `{"poll_after_ms":}`, -1}, {false, false, 200, `{"poll_after_ms":"1"}`, -1}, {true, false, 200, "the site", -1},
	} {
		v := &visitor{called: tt.called}
		began := time.Now()
		err := v.hear(&http.Response{StatusCode: tt.status}, []byte(tt.body))
		if (err != nil) != (tt.pause < 0) || v.called != tt.next || err == nil && v.due.Before(began.Add(tt.pause)) {
			t.Errorf("%d %q: %v, called %v, due in %v", tt.status, tt.body, err, v.called, v.due.Sub(began))
		}
	}
	v := &visitor{called: true}
	h := http.Header{"Set-Cookie": {"room_probe=1; Path=/", "room_ticket=abc; Path=/; HttpOnly"}}
	if err := v.hear(&http.Response{StatusCode: 200, Header: h}, []byte(page)); err != nil || v.cookie != "Cookie: room_ticket=abc\r\n" {
		t.Errorf("cookie %q, %v", v.cookie, err)
	}
}

func TestStatus(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	if n, err := status(os.Getpid(), "VmRSS"); n < 1<<20 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := status(os.Getpid(), "VmNothing"); err == nil {
		t.Error("a figure that is not there")
	}
}
