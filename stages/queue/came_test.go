package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// TestWhenARequestCame: to the line comes at its start who has done nothing
// since, and later who was kept by a stage before, or whose body was read there.
func TestWhenARequestCame(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for name, tt := range map[string]struct {
		method, body string
		options      []option
		later        bool
	}{
		"at once": {method: "GET"},
		"waited":  {method: "GET", options: []option{header("Test-Waited", "1")}, later: true},
		"a body":  {method: "POST", body: "a=1", later: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &script{answers: []line.Decision{{Verdict: line.Admitted}}}
			r := newRig(t, l, func(c *Config) { c.Now = func() time.Time { return later } })
			r.send(request(tt.method, "/", strings.NewReader(tt.body), tt.options...))
			came := l.came[len(l.came)-1]
			if came.Equal(later) != tt.later {
				t.Errorf("came at %v, where it is %v", came, later)
			}
		})
	}
}
