package certs

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// trip is a transport that answers the same to everybody.
type trip struct{ kind, body string }

func (t trip) RoundTrip(*http.Request) (*http.Response, error) {
	if t.body == "" {
		return nil, errors.New("connection refused")
	}
	return &http.Response{Header: http.Header{"Content-Type": {t.kind}}, Body: io.NopCloser(strings.NewReader(t.body))}, nil
}

func TestWitnessHearsComplaints(t *testing.T) {
	const acme = "urn:ietf:params:acme:error:"
	r, err := http.NewRequest(http.MethodGet, "https://ca.test/dir", nil)
	if err != nil {
		t.Fatal(err)
	}
	f := func(kind, body, want string) {
		t.Helper()
		said := ""
		w := &witness{next: trip{kind, body}, said: func(text string) { said = text }}
		resp, err := w.RoundTrip(r)
		if said != want || w.trouble().Text != want {
			t.Errorf("%s: said %q, remembers %q; want %q", body, said, w.trouble().Text, want)
		}
		if err == nil {
			if got, _ := io.ReadAll(resp.Body); string(got) != body {
				t.Errorf("the client reads %q of %q", got, body)
			}
		}
		w.content()
		if w.trouble().Text != "" {
			t.Error("a complaint outlives what was wanted")
		}
	}
	f("application/problem+json", `{"type":"`+acme+`rateLimited","detail":"too many","status":429}`, "rateLimited: too many")
	f("application/json", `{"status":"invalid","identifier":{"type":"dns","value":"site.test"},"challenges":[
		{"type":"http-01","status":"pending"},
		{"type":"tls-alpn-01","status":"invalid","error":{"type":"`+acme+`connection","detail":"refused","status":400}}]}`,
		"tls-alpn-01: connection: refused")
	f("application/json", `{"status":"invalid","error":{"type":"`+acme+`unauthorized","detail":"no"}}`, "unauthorized: no")
	f("application/problem+json", `{"type":"`+acme+`badNonce","detail":"again"}`, "")
	f("application/problem+json", `{"type":"`+acme+`accountDoesNotExist","detail":"none"}`, "")
	f("application/json", `{"type":"http-01","status":"valid"}`, "")
	f("application/json", `{"newOrder":"https://ca.test/order"}`, "")
	f("application/json", `[1`, "")
	f("application/pem-certificate-chain", `{"type":"`+acme+`rateLimited"}`, "")
	f("", "", "ask ca.test: connection refused")
}

func TestWitnessOfARetiredAuthority(t *testing.T) {
	w := &witness{next: trip{"application/json", "{}"}, said: func(string) {}}
	w.retired.Store(true)
	if _, err := w.RoundTrip(nil); !errors.Is(err, errRetired) {
		t.Errorf("asked all the same: %v", err)
	}
}
