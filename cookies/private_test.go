package cookies

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKeepPrivate(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour).Format(http.TimeFormat)
	earlier := now.Add(-time.Hour).Format(http.TimeFormat)
	for _, c := range []struct {
		name     string
		in, want http.Header // no want: unchanged
	}{
		// Not offered to shared caches: nothing is touched.
		{"nothing said", http.Header{}, nil},
		{"private", http.Header{"Cache-Control": {"private, max-age=60"}}, nil},
		{"no-store", http.Header{"Cache-Control": {"no-store"}}, nil},
		{"public but no-store", http.Header{"Cache-Control": {"public, no-store"}}, nil},
		{"as WordPress says it", http.Header{"Cache-Control": {"no-cache, must-revalidate, max-age=0"}, "Expires": {earlier}}, nil},
		{"no-cache", http.Header{"Cache-Control": {"no-cache"}}, nil},
		{"expired", http.Header{"Expires": {earlier}}, nil},
		{"expired by nonsense", http.Header{"Expires": {"0"}}, nil},
		{"max-age beats Expires", http.Header{"Cache-Control": {"max-age=0"}, "Expires": {later}}, nil},
		{"private with Expires", http.Header{"Cache-Control": {"private"}, "Expires": {later}}, nil},

		// Offered: private from now on.
		{"public", http.Header{"Cache-Control": {"public"}}, http.Header{"Cache-Control": {"private"}}},
		{"public for a year", http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}},
			http.Header{"Cache-Control": {"private, max-age=31536000, immutable"}}},
		{"s-maxage", http.Header{"Cache-Control": {"s-maxage=60"}}, http.Header{"Cache-Control": {"private"}}},
		{"max-age alone", http.Header{"Cache-Control": {"max-age=60"}}, http.Header{"Cache-Control": {"private, max-age=60"}}},
		{"max-age in quotes", http.Header{"Cache-Control": {`max-age="60"`}}, http.Header{"Cache-Control": {`private, max-age="60"`}}},
		{"unreadable max-age", http.Header{"Cache-Control": {"max-age=soon"}}, http.Header{"Cache-Control": {"private, max-age=soon"}}},
		{"capitals and blanks", http.Header{"Cache-Control": {" PUBLIC ,, Max-Age = 60 "}}, http.Header{"Cache-Control": {"private, Max-Age=60"}}},
		{"two lines", http.Header{"Cache-Control": {"max-age=60", "public"}}, http.Header{"Cache-Control": {"private, max-age=60"}}},
		{"public and private", http.Header{"Cache-Control": {"public, private"}}, http.Header{"Cache-Control": {"private"}}},
		{"private fields only", http.Header{"Cache-Control": {`private="set-cookie, x", max-age=60`}}, http.Header{"Cache-Control": {"private, max-age=60"}}},
		{"public after a quote", http.Header{"Cache-Control": {`ext="a, b", public`}}, http.Header{"Cache-Control": {`private, ext="a, b"`}}},
		{"public in a quote after an escaped one", http.Header{"Cache-Control": {`ext="\"", x="a, public, b"`}}, nil},
		{"public in a quote", http.Header{"Cache-Control": {`ext="a, public"`}}, nil},
		{"public after an open quote", http.Header{"Cache-Control": {`ext="a, public`}}, http.Header{"Cache-Control": {`private, ext="a`}}},
		{"Expires", http.Header{"Expires": {later}}, http.Header{"Cache-Control": {"private"}, "Expires": {later}}},
		{"targeted", http.Header{"Cdn-Cache-Control": {"max-age=60"}, "Cache-Control": {"private, max-age=5"}},
			http.Header{"Cache-Control": {"private, max-age=5"}}},
		{"older targeted", http.Header{"Surrogate-Control": {"max-age=60"}, "Edge-Control": {"cache-maxage=60"}, "X-Accel-Expires": {"60"}, "Cloudflare-Cdn-Cache-Control": {"max-age=60"}},
			http.Header{"Cache-Control": {"private"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == nil {
				want = c.in.Clone()
			}
			KeepPrivate(c.in, now)
			if diff := cmp.Diff(want, c.in); diff != "" {
				t.Errorf("header differs (-want +got):\n%s", diff)
			}
		})
	}
}
