package pass

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestVerdicts(t *testing.T) {
	const (
		none  = iota // no Set-Cookie
		fresh        // a new id
		same         // the id the request came with: 7
	)
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		valid, ageing, expired := b.pass(7, ttl), b.pass(7, ttl/2), b.pass(7, -time.Second)
		stale := cookie(keyring(t, otherSecret), newToken([16]byte{7}, time.Now(), ttl))
		forged := altered(valid)
		for _, c := range []struct {
			name, cookie string
			page, tier   int // what a page and an asset or stream gets
			admits       bool
			strikes      int
		}{
			{"none", "", fresh, none, false, 0},
			{"empty", CookieName + "=", fresh, none, false, 0},
			{"valid", valid, none, none, true, 0},
			{"ageing", ageing, same, same, true, 0},
			{"last second", b.pass(7, time.Second), same, same, true, 0},
			{"over this instant", b.pass(7, 0), same, none, false, 0},
			{"expired", expired, same, none, false, 0},
			{"stale", stale, fresh, none, false, 0},
			{"forged", forged, fresh, none, false, 1},
			{"no pass at all", CookieName + "=x", fresh, none, false, 1},
			{"payload of another kind", CookieName + "=" + string(b.keys.AppendToken(nil, []byte("short"))), fresh, none, false, 0},
			{"another name", "xconcert_admit=1; Concert_admit=" + valid[len(CookieName)+1:], fresh, none, false, 0},

			{"stale, valid", stale + "; " + valid, none, none, true, 0},
			{"valid, stale", valid + "; " + stale, none, none, true, 0},
			{"forged, valid", forged + "; " + valid, none, none, true, 0},
			{"valid, forged", valid + "; " + forged, none, none, true, 0},
			{"expired, valid", expired + "; " + valid, none, none, true, 0},
			{"ageing, valid", b.pass(9, ttl/3) + "; " + valid, none, none, true, 0},
			{"expired, forged", expired + "; " + forged, same, none, false, 0},
			{"older, expired", b.pass(9, -time.Hour) + "; " + expired, same, none, false, 0},
			{"stale, forged", stale + "; " + forged, fresh, none, false, 0},
			{"forged twice", forged + "; " + forged, fresh, none, false, 1},
			{"empty, forged", CookieName + "=; " + forged, fresh, none, false, 1},
		} {
			for class, want := range map[string]int{"page": c.page, "asset": c.tier, "stream": c.tier} {
				b.strikes, b.reached = 0, 0
				resp := b.get(class, c.cookie)
				wantStatus := http.StatusOK
				if class != "page" && !c.admits {
					wantStatus = http.StatusForbidden
				}
				if resp.StatusCode != wantStatus || (b.reached == 1) != (wantStatus == http.StatusOK) {
					t.Errorf("%s, %s: status %d, %d requests at the origin; want %d", c.name, class, resp.StatusCode, b.reached, wantStatus)
				}
				if b.strikes != c.strikes {
					t.Errorf("%s, %s: %d strikes, want %d", c.name, class, b.strikes, c.strikes)
				}
				got := none
				if tok, set := b.issued(resp); set {
					got = fresh
					if tok.id == [16]byte{7} {
						got = same
					}
				}
				if got != want {
					t.Errorf("%s, %s: pass issued %d, want %d", c.name, class, got, want)
				}
			}
		}
	})
}

// Two header lines are as good as one.
func TestCookiesOverSeveralLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		if resp := b.get("asset", "a=1; "+altered(b.pass(7, ttl)), b.pass(7, ttl)); resp.StatusCode != http.StatusOK {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

func TestFloodOfCookiesIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		bad := strings.Repeat(CookieName+"=x; ", cookies.MaxSame)
		if resp := b.get("asset", bad+b.pass(7, ttl)); resp.StatusCode != http.StatusForbidden || b.strikes != 1 {
			t.Errorf("status %d, %d strikes", resp.StatusCode, b.strikes)
		}
	})
}

func TestOtherClassesPassBy(t *testing.T) {
	b := newBed(t)
	for _, class := range []string{"public-asset", "bypass"} {
		resp := b.get(class, CookieName+"=x")
		if _, set := b.issued(resp); set || b.strikes != 0 || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: pass set %v, %d strikes, status %d", class, set, b.strikes, resp.StatusCode)
		}
	}
}

func TestNewPassesDiffer(t *testing.T) {
	b := newBed(t)
	first, _ := b.issued(b.get("page"))
	second, _ := b.issued(b.get("page"))
	if first.id == second.id || first.id == [16]byte{} {
		t.Errorf("ids %x and %x", first.id, second.id)
	}
}

func TestPassIsForOneTTLFromTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		tok, _ := b.issued(b.get("page"))
		for _, c := range []struct {
			after  time.Duration
			status int
			slides bool
		}{
			{0, 200, false},
			{ttl/2 - time.Second, 200, false},
			{ttl / 2, 200, true},
			{ttl - time.Second, 200, true},
			{ttl, 403, false},
		} {
			time.Sleep(c.after - time.Since(time.Unix(tok.expires, 0).Add(-ttl)))
			resp := b.get("asset", cookie(b.keys, tok))
			slid, set := b.issued(resp)
			if resp.StatusCode != c.status || set != c.slides {
				t.Errorf("after %v: status %d, pass set %v; want %d, %v", c.after, resp.StatusCode, set, c.status, c.slides)
			}
			if set && (slid.id != tok.id || slid.expires != time.Now().Add(ttl).Unix()) {
				t.Errorf("after %v: slid to %+v from %+v", c.after, slid, tok)
			}
		}
	})
}

// The wait in line and the origin's thinking are not taken off a pass's life.
func TestLongVisitGetsAWholePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.thinks = 2 * ttl
		if tok, _ := b.issued(b.get("page")); tok.expires != time.Now().Add(ttl).Unix() {
			t.Errorf("pass has %ds left, want %v", tok.expires-time.Now().Unix(), ttl)
		}
	})
}

// A clock that was ahead and is set right again must not leave passes behind
// that are valid for as long as it was ahead.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		for ahead, status := range map[time.Duration]int{skew * time.Second: 200, time.Hour: 403} {
			c := cookie(b.keys, newToken([16]byte{7}, time.Now().Add(ahead), ttl))
			if resp := b.get("asset", c); resp.StatusCode != status {
				t.Errorf("pass of a clock %v ahead: status %d, want %d", ahead, resp.StatusCode, status)
			}
			if tok, _ := b.issued(b.get("page", c)); status == 403 && tok.id != [16]byte{7} {
				t.Errorf("id is %x, want it kept", tok.id)
			}
		}
	})
}

func TestSecretsRotate(t *testing.T) {
	b := newBed(t)
	old := b.pass(7, ttl)
	rotate := func(secrets ...[]byte) {
		c := b.stage.settings.Load().Config
		c.Keyring = keyring(t, secrets...)
		if err := b.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	rotate(otherSecret, mainSecret)
	if resp := b.get("asset", old); resp.StatusCode != http.StatusOK {
		t.Errorf("pass of the second secret: status %d", resp.StatusCode)
	}
	rotate(otherSecret)
	for range 10 {
		if resp := b.get("asset", old); resp.StatusCode != http.StatusForbidden {
			t.Errorf("pass of a secret taken away: status %d", resp.StatusCode)
		}
	}
	if b.strikes != 0 || b.stage.Stats().Stale != 10 {
		t.Errorf("%d strikes, %d stale passes; want 0, 10", b.strikes, b.stage.Stats().Stale)
	}
}

func TestOnlyTheOriginsAnswersCarryAPass(t *testing.T) {
	b := newBed(t)
	b.status = http.StatusInternalServerError
	if _, set := b.issued(b.get("page")); !set {
		t.Error("the origin's 500 sets no pass")
	}
	b.down = true
	if resp := b.get("page"); len(resp.Header["Set-Cookie"]) != 0 {
		t.Errorf("a 502 sets %q", resp.Header["Set-Cookie"])
	}
}

// What binds itself to the pass runs after it and needs the id.
func TestVisitHoldsTheNewPass(t *testing.T) {
	b := newBed(t)
	tok, _ := b.issued(b.get("page"))
	if want := (pipeline.Pass{State: pipeline.PassValid, ID: tok.id}); b.seen != want {
		t.Errorf("the visit ends with %+v, want %+v", b.seen, want)
	}
}

func TestCookieAttributes(t *testing.T) {
	overTLS := httptest.NewRequest("GET", "/page", nil)
	overTLS.TLS = &tls.ConnectionState{}
	keep := "Max-Age=86460"
	for _, c := range []struct {
		name   string
		change func(*Config)
		r      *http.Request
		want   string
	}{
		{"plain", func(*Config) {}, httptest.NewRequest("GET", "/page", nil), "; Path=/; " + keep + "; HttpOnly; SameSite=Lax"},
		{"secure", func(c *Config) { c.CookieSecure = true }, httptest.NewRequest("GET", "/page", nil), "; Path=/; " + keep + "; HttpOnly; Secure; SameSite=Lax"},
		{"tls", func(*Config) {}, overTLS, "; Path=/; " + keep + "; HttpOnly; Secure; SameSite=Lax"},
		{"domain and path", func(c *Config) { c.CookiePath, c.CookieDomain = "/shop", "example.com" }, httptest.NewRequest("GET", "/page", nil),
			"; Path=/shop; Domain=example.com; " + keep + "; HttpOnly; SameSite=Lax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := newBed(t, c.change).send(c.r).Header.Get("Set-Cookie")
			if _, attributes, _ := strings.Cut(line, ";"); ";"+attributes != c.want {
				t.Errorf("cookie is %q, want its attributes to be %q", line, c.want)
			}
		})
	}
}

func TestOtherCookiesStay(t *testing.T) {
	b := newBed(t)
	b.header = http.Header{"Set-Cookie": {"a=1", "b=2"}}
	lines := b.get("page").Header["Set-Cookie"]
	if len(lines) != 3 || lines[0] != "a=1" || lines[1] != "b=2" {
		t.Errorf("Set-Cookie lines are %q", lines)
	}
}

func TestCountersTellNewFromRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.get("page")
		b.get("page", b.pass(7, -time.Second))
		b.get("asset", b.pass(7, ttl/2))
		b.get("asset")
		b.get("stream")
		want := Stats{Issued: 1, Renewed: 2, AssetDenied: 1, StreamDenied: 1}
		if got := b.stage.Stats(); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
	})
}

func TestBadSettingsAreNamedAndChangeNothing(t *testing.T) {
	b := newBed(t)
	before := b.stage.settings.Load()
	for want, c := range map[string]Config{
		"keyring":  {TTL: ttl},
		"lifetime": {Keyring: b.keys},
		"0s":       {Keyring: b.keys, TTL: 0},
		"cookie":   {Keyring: b.keys, TTL: ttl, CookiePath: "/;\n"},
	} {
		if err := b.stage.Apply(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to name the %s", err, want)
		}
		if _, err := New(c); err == nil {
			t.Errorf("New accepts a bad %s", want)
		}
	}
	if b.stage.settings.Load() != before {
		t.Error("a bad change was applied")
	}
}
