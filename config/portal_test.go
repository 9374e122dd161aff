package config

import (
	"strings"
	"testing"
)

func TestPortalPasswords(t *testing.T) {
	const pass, other = "CONCERT_PORTAL_PASS=0123456789abcdef", "CONCERT_PORTAL_VIEWER_PASS=fedcba9876543210"
	for name, tt := range map[string]struct {
		env  []string
		on   bool
		want string // problem; "" for none
	}{
		"none":            {},
		"blank is unset":  {env: []string{"CONCERT_PORTAL_PASS="}},
		"one":             {env: []string{pass}, on: true},
		"both":            {env: []string{pass, other}, on: true},
		"no listener":     {env: []string{pass, "CONCERT_PORTAL_LISTEN= "}, on: true}, // blank is unset
		"too short":       {env: []string{"CONCERT_PORTAL_PASS=0123456789abcde"}, want: `CONCERT_PORTAL_PASS "(hidden)": want at least 16 characters`},
		"viewer alone":    {env: []string{other}, want: "CONCERT_PORTAL_VIEWER_PASS"},
		"the same":        {env: []string{pass, "CONCERT_PORTAL_VIEWER_PASS=0123456789abcdef"}, want: "another password"},
		"nobody may come": {env: []string{pass, "CONCERT_PORTAL_ALLOW=,"}, want: "at least one address"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Load(nil, tt.env)
			switch {
			case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Fatalf("got %v, want %q", err, tt.want)
			case err != nil:
				if strings.Contains(err.Error(), "0123456789abcde") {
					t.Errorf("a password is shown: %v", err)
				}
			case l.Config.Portal() != tt.on:
				t.Errorf("portal %v, want %v", l.Config.Portal(), tt.on)
			}
		})
	}
	if c := mustLoad(t, []string{"-portal-listen="}, []string{pass}).Config; c.Portal() {
		t.Error("the portal runs without an address")
	}
}

func TestPortalBeyondTheMachineIsRemarked(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:8081": false, "[::1]:8081": false, "localhost:1": false, "127.9.9.9:1": false,
		":8081": true, "0.0.0.0:1": true, "192.0.2.1:1": true, "ops.internal:1": true,
	} {
		for _, args := range [][]string{{"-portal-listen=" + listen}, {"-portal-listen=" + listen, "-portal-secure-cookie"}} {
			l := mustLoad(t, args, []string{"CONCERT_PORTAL_PASS=0123456789abcdef"})
			if got := strings.Contains(strings.Join(l.Warnings, "\n"), "speaks plain HTTP"); got != (want && len(args) == 1) {
				t.Errorf("%q: warned %v", args, got)
			}
		}
	}
	if l := mustLoad(t, []string{"-portal-listen=:1"}, nil); strings.Contains(strings.Join(l.Warnings, "\n"), "plain HTTP") {
		t.Error("warned without a portal")
	}
}

func TestPortalHostsAreNames(t *testing.T) {
	c := mustLoad(t, []string{"-portal-hosts=Desk.Example, ops.example"}, nil).Config
	if strings.Join(c.PortalHosts, " ") != "desk.example ops.example" {
		t.Errorf("hosts %q", c.PortalHosts)
	}
	for _, bad := range []string{"desk.example:8081", "https://desk.example", "a b"} {
		if got := problemsOf(t, []string{"-portal-hosts=" + bad}, nil); len(got) != 1 || !strings.Contains(got[0], "want host names without ports") {
			t.Errorf("%s: %q", bad, got)
		}
	}
}
