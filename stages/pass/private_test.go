package pass

import (
	"net/http"
	"testing"
	"testing/synctest"
)

// What caches may share is touched only when it carries a pass.
func TestCacheableResponses(t *testing.T) {
	const public, private = "public, max-age=60", "private, max-age=60"
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.header = http.Header{"Cache-Control": {public}}
		for _, c := range []struct {
			name, class, cookie string
			want                string
		}{
			{"page, fresh pass", "page", b.pass(7, ttl), public},
			{"page, no pass", "page", "", private},
			{"page, ageing pass", "page", b.pass(7, ttl/2), private},
			{"asset, fresh pass", "asset", b.pass(7, ttl), public},
			{"asset, ageing pass", "asset", b.pass(7, ttl/2), private},
			{"public asset", "public-asset", "", public},
		} {
			resp := b.get(c.class, c.cookie)
			_, set := b.issued(resp)
			if got := resp.Header.Get("Cache-Control"); got != c.want || set != (got == private) {
				t.Errorf("%s: Cache-Control %q, pass set %v; want %q", c.name, got, set, c.want)
			}
		}
	})
}
