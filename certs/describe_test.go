package certs

import (
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
)

func TestDescribe(t *testing.T) {
	ca, now := certtest.New(t), time.Now()
	until := now.Add(12 * time.Hour)
	cached := ca.Issue(t, certtest.Names("cached.test"), certtest.From(now, until))
	got := strings.Join(Describe(Config{
		Files:     []Pair{own(t, ca, "site.test", "192.0.2.1"), {"/no/such.pem", "/no/such.key"}},
		Domains:   []string{"cached.test", "new.test"},
		Cache:     seeded(t, cached, "cached.test"),
		Directory: "https://ca.test/dir",
	}, now), "\n")
	for _, want := range []string{
		"for site.test, 192.0.2.1, until ", "by test authority",
		"for cached.test, until " + until.UTC().Format(time.DateOnly), "for new.test, asked for at the start from https://ca.test/dir",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "such") {
		t.Errorf("what cannot be used is listed:\n%s", got)
	}
	if got := Describe(Config{Domains: []string{"cached.test"}, Cache: seeded(t, cached, "cached.test")}, until.Add(time.Hour)); !strings.Contains(got[0], "asked for") {
		t.Errorf("one that is over: %s", got)
	}
}
