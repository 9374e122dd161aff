package clientip

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// strip takes out of h what must not be passed on.
func strip(h http.Header, peerTrusted bool) {
	for name := range h {
		if Strips(name, peerTrusted) {
			delete(h, name)
		}
	}
}

func TestForwardingHeadersForTheOrigin(t *testing.T) {
	for _, tt := range []struct {
		name, remote string
		in, want     http.Header
	}{
		{
			name: "a stranger's claims are replaced", remote: "127.0.0.2:1",
			in: http.Header{
				"X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"evil.example"},
				"X-Forwarded-Port": {"1"}, "X-Forwarded-Prefix": {"/evil"}, "X-Real-Ip": {"198.51.100.1"},
				"Forwarded": {"for=198.51.100.1;host=evil.example"}, "Accept": {"*/*"},
			},
			want: http.Header{
				"X-Forwarded-For": {"127.0.0.2"}, "X-Forwarded-Proto": {"http"}, "Accept": {"*/*"},
			},
		},
		{
			name: "a trusted peer's chain is appended to once", remote: local,
			in: http.Header{
				"X-Forwarded-For": {"198.51.100.1, 203.0.113.9"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"other.example"},
				"X-Forwarded-Port": {"443"}, "X-Real-Ip": {"203.0.113.9"}, "Forwarded": {"for=203.0.113.9"},
			},
			want: http.Header{
				"X-Forwarded-For": {"198.51.100.1, 203.0.113.9, 127.0.0.1"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Port": {"443"}, "X-Real-Ip": {"203.0.113.9"},
			},
		},
		{
			name: "several lines become one", remote: local,
			in: http.Header{"X-Forwarded-For": {"198.51.100.1", "", " , 203.0.113.9, , "}, "X-Forwarded-Proto": {"https", "https"}},
			want: http.Header{
				"X-Forwarded-For": {"198.51.100.1, 203.0.113.9, 127.0.0.1"}, "X-Forwarded-Proto": {"https"},
			},
		},
		{
			name: "a list of schemes stays as sent", remote: local,
			in: http.Header{"X-Forwarded-Proto": {"https, http"}},
			want: http.Header{
				"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Proto": {"https, http"},
			},
		},
		{
			name: "a trusted peer that says nothing", remote: "[::1]:9",
			in:   http.Header{"X-Forwarded-Proto": {" "}},
			want: http.Header{"X-Forwarded-For": {"::1"}, "X-Forwarded-Proto": {"http"}},
		},
		{
			name: "a connection without address", remote: "@",
			in:   http.Header{"X-Forwarded-For": {"203.0.113.9"}},
			want: http.Header{"X-Forwarded-Proto": {"http"}, "X-Forwarded-For": {""}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := resolver(t, "127.0.0.1,::1").Resolve(tt.remote, tt.in)
			h := tt.in.Clone()
			strip(h, c.PeerTrusted)
			delete(h, "X-Forwarded-Host") // always written anew
			h["X-Forwarded-Proto"] = []string{ForwardedProto(tt.in, c, "http")}
			h["X-Forwarded-For"] = []string{ForwardedFor(tt.in, c)}
			if diff := cmp.Diff(tt.want, h); diff != "" {
				t.Errorf("header for the origin (-want +got):\n%s", diff)
			}
		})
	}
}

// forwardingNames are what applications, frameworks and services read.
var forwardingNames = []string{
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Server",
	"X-Forwarded-Uri", "X-Forwarded-Ssl", "X-Forwarded-Scheme", "X-Forwarded-By", "X-Forwarded", "X-Forwarded-Client-Cert",
	"Forwarded-For", "Forwarded-Proto", "X-Original-Forwarded-For", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url",
	"X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Cf-Connecting-Ipv6", "X-Client-Ip", "Client-Ip", "X-Cluster-Client-Ip",
	"Fastly-Client-Ip", "Fly-Client-Ip", "X-Proxyuser-Ip", "X-Remote-Addr", "X-Envoy-External-Address", "X-Azure-Clientip",
	"Front-End-Https", "X-Url-Scheme", "Cf-Visitor", "X-Host", "X-Script-Name",
}

// punctuate respells a name with another punctuation mark, as net/http keeps it.
func punctuate(name, mark string) string {
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "-", mark))
}

func TestStrangersMaySayNothingOfTheRequest(t *testing.T) {
	for _, name := range forwardingNames {
		for _, spelled := range []string{name, punctuate(name, "_"), punctuate(name, "."), punctuate(name, "~")} {
			h := http.Header{spelled: {"evil"}}
			strip(h, false)
			if len(h) != 0 {
				t.Errorf("%s of a stranger was kept", spelled)
			}
		}
	}
}

func TestTrustedPeersAreVouchedForButTwinsAreNot(t *testing.T) {
	for _, name := range forwardingNames {
		twin := punctuate(name, "_")
		h := http.Header{name: {"true"}}
		if twin != name { // a name without hyphen has no twin
			h[twin] = []string{"false"}
		}
		strip(h, true)
		if diff := cmp.Diff(http.Header{name: {"true"}}, h); diff != "" {
			t.Errorf("%s and its twin of a trusted peer (-want +got):\n%s", name, diff)
		}
	}
}

func TestForwardedIsAlwaysRemoved(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		h := http.Header{"Forwarded": {"for=203.0.113.9"}}
		strip(h, trusted)
		if len(h) != 0 {
			t.Errorf("peer trusted %v: Forwarded was kept", trusted)
		}
	}
}

func TestOtherHeadersAreLeftAlone(t *testing.T) {
	ordinary := http.Header{
		"Accept": {"*/*"}, "Cookie": {"a=1"}, "User-Agent": {"x"}, "Via": {"1.1 a"}, "X-Requested-With": {"XMLHttpRequest"},
		"X-Real-Ip-Note": {"x"}, "X-Host-Name": {"x"}, "My_header": {"x"}, "X-Request-Id": {"1"}, "Traceparent": {"00-1"},
		"X-Original": {"x"}, "Forward": {"x"}, "Origin": {"https://shop.example"}, "Referer": {"https://shop.example/"},
	}
	for _, trusted := range []bool{false, true} {
		h := ordinary.Clone()
		strip(h, trusted)
		if diff := cmp.Diff(ordinary, h); diff != "" {
			t.Errorf("peer trusted %v (-want +got):\n%s", trusted, diff)
		}
	}
}

// TestEveryNameMayTell: the names in the tables must all pass by the first
// look at a name.
func TestEveryNameMayTell(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "strip.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		name := strings.Trim(lit.Value, `"`)
		folded, _ := fold(nil, name)
		if !tellsOrigin(folded) {
			return true // an import
		}
		names++
		for _, spelled := range []string{name, http.CanonicalHeaderKey(name), strings.ToUpper(name), punctuate(name, "_"), punctuate(name, "~")} {
			if !mayTell(spelled) {
				t.Errorf("%s is taken for none of the tables", spelled)
			}
		}
		return true
	})
	if names < len(forwardingNames) {
		t.Errorf("only %d names found: this test sees nothing", names)
	}
}
