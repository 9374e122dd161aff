package certs

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	got, err := Names([]string{"Example.COM.", "example.com", "b\u00fccher.example", "a-b.c1.test"})
	want := []string{"example.com", "xn--bcher-kva.example", "a-b.c1.test"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	_, err = Names([]string{"localhost", "good.test", "*.example.com"})
	if err == nil || !strings.Contains(err.Error(), "localhost: ") || !strings.Contains(err.Error(), "*.example.com: ") {
		t.Errorf("%v; want both bad names told of", err)
	}
	f := func(text, says string) {
		t.Helper()
		if got, err := Names([]string{"good.test", text}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %q, %v; want an error that says %q", text, got, err, says)
		}
	}
	f("https://example.com", "without scheme")
	f("example.com/shop", "without scheme")
	f("example.com:443", "port")
	f("*.example.com", "wildcards")
	f("me@example.com", "e-mail")
	f("192.0.2.1", "addresses")
	f("2001:db8::1", "addresses")
	f("[2001:db8::1]", "addresses")
	f("localhost", "dot")
	f("a b.test", "no host name")
	f("a..test", "no host name")
	f("-a.test", "no host name")
	f("a_b.test", "no host name")
	f(strings.Repeat("a.", 130)+"test", "no host name")
	f(".", "dot")
}
