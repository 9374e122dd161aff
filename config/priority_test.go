package config

import (
	"strings"
	"testing"
)

func TestSkipURL(t *testing.T) {
	for _, good := range []string{"", "/pay", "/pay?plan=1&lang=en#top", "https://pay.example.com/skip?x=1", "http://127.0.0.1:9/"} {
		mustLoad(t, []string{"-skip-url=" + good}, nil)
	}
	for _, bad := range []string{"pay", "//evil.example/", "javascript:alert(1)", "/a b", "/a\"b", "/a'b", "/<b>", "/a\nb",
		"https:///x", "ftp://x/", "https://user:pw@x/", `\\evil\x`, `/\evil`} {
		refused(t, "skip-url", bad)
	}
	if path := "/" + strings.Repeat("x", 2047); checkSkipURL(path) != nil || checkSkipURL(path+"x") == nil {
		t.Error("the bound of 2048 characters does not hold")
	}
}

func TestPricesAreNumbers(t *testing.T) {
	if c := mustLoad(t, []string{"-rate=0.25", "-surge=1e-3"}, nil).Config; c.Rate != 0.25 || c.Surge != 0.001 {
		t.Errorf("rate %v, surge %v", c.Rate, c.Surge)
	}
	for _, bad := range []string{"NaN", "Inf", "-Inf", "-0.01", "1000000.5", "1e400", "1,5"} {
		refused(t, "rate", bad)
	}
}
