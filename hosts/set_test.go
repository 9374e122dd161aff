package hosts

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

func TestHas(t *testing.T) {
	s, err := Parse(" Shop.Example, *.shop.example,xn--bcher-kva.example, 192.0.2.7, [2001:DB8::1],*.a.b ")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"shop.example": true, "SHOP.example": true, "shop.example:8080": true, "shop.example.": true, "shop.example.:443": true,
		"www.shop.example": true, "a.b.shop.example": true, "WWW.Shop.Example:1": true,
		"xn--bcher-kva.example": true, "192.0.2.7": true, "192.0.2.7:80": true,
		"[2001:db8::1]": true, "[2001:db8:0::1]:443": true, "2001:db8::1": true,
		"x.a.b": true, "a.b": false,
		"": false, ".": false, ":80": false, "example": false, "evilshop.example": false, "shop.example.evil": false,
		"192.0.2.8": false, "[2001:db8::2]": false, "[": false, "[]": false, "[::1": false, "shop.example..": false,
		"shop.example@evil.example": false, strings.Repeat("a.", 200) + "shop.example": false,
	} {
		if got := s.Has(host); got != want {
			t.Errorf("Has(%q) = %v, want %v", host, got, want)
		}
	}
}

func TestEmptyHasNothing(t *testing.T) {
	s, err := Parse(" , ")
	if err != nil || !s.Empty() || s.Has("a") || s.Has("") || s.String() != "" {
		t.Errorf("Parse of blanks: %v, %v", s, err)
	}
	if s = nil; !s.Empty() || s.Has("a") || s.String() != "" {
		t.Error("nil has something")
	}
}

func TestParseNamesEveryProblem(t *testing.T) {
	_, err := Parse("good.example,http://a,b:80,*,a..b,bücher.example,w*.example," + strings.Repeat("x", 254))
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 7 {
		t.Errorf("%d problems, want 7:\n%v", len(lines), err)
	}
	if strings.Contains(err.Error(), "good.example") {
		t.Errorf("a good entry is blamed: %v", err)
	}
}

func TestStringParsesToTheSame(t *testing.T) {
	const list = "*.shop.example,shop.example"
	s, err := Parse("*.Shop.Example, shop.example")
	if err != nil || s.String() != list {
		t.Errorf("%q, %v; want %q", s, err, list)
	}
}

func TestHasAllocatesNothing(t *testing.T) {
	s, err := Parse("*.shop.example,2001:db8::1")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"WWW.shop.example:443", "evil.example", "[2001:db8::1]:443"} {
		if n := allocs.PerRun(1000, func() { s.Has(host) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
	}
}
