package paths

import (
	"strings"
	"testing"
)

func TestPatternsThatDifferInCapitals(t *testing.T) {
	s := build(t, map[string]string{"-bypass": "/Logo, /Old/Kept, /shop", "-assets": "/logo, /x/*", "-ban-paths": "/X/y, /old/*, /OLD/*, /Shop/*"})
	expect(t, s, bypass, "/Logo", "/Old/Kept", "/shop")
	expect(t, s, ban, "/X/y", "/x/y", "/Old/a", "/shop/a", "/SHOP/a")
	expect(t, s, asset, "/logo", "/x/z")
	expect(t, s, page, "/X/z", "/LOGO", "/Shop")
}

// TestBansLookAtNoCapitals: an entry that only bans could meet is no entry.
func TestBansLookAtNoCapitals(t *testing.T) {
	_, err := Build(lists(map[string]string{"-bypass": "/admin, /Both", "-assets": "/Old/*", "-ban-paths": "/Admin, /both, /old/*, /old/*"})...)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`-ban-paths: "/Admin" is also in -bypass, as "/admin", and bans look at no capitals: remove it from one of them`,
		`-ban-paths: "/both" is also in -bypass, as "/Both", and`, `-ban-paths: "/old/*" is also in -assets, as "/Old/*", and`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 3 {
		t.Errorf("%d problems, want 3: %v", got, err)
	}
}
