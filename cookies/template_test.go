package cookies

import (
	"net/http"
	"testing"
)

func TestTemplate(t *testing.T) {
	tests := []struct {
		name                               string
		cookie                             http.Cookie
		plain, secure, clear, clearSecured string
	}{
		{"all attributes",
			http.Cookie{Name: "p", Path: "/x", Domain: "example.com", MaxAge: 600, HttpOnly: true, SameSite: http.SameSiteLaxMode},
			"p=v; Path=/x; Domain=example.com; Max-Age=600; HttpOnly; SameSite=Lax",
			"p=v; Path=/x; Domain=example.com; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
			"p=; Path=/x; Domain=example.com; Max-Age=0; HttpOnly; SameSite=Lax",
			"p=; Path=/x; Domain=example.com; Max-Age=0; HttpOnly; Secure; SameSite=Lax"},
		{"always secure",
			http.Cookie{Name: "p", Path: "/", Secure: true},
			"p=v; Path=/; Secure", "p=v; Path=/; Secure",
			"p=; Path=/; Max-Age=0; Secure", "p=; Path=/; Max-Age=0; Secure"},
		{"value of the model is not used",
			http.Cookie{Name: "p", Value: "model"},
			"p=v", "p=v; Secure", "p=; Max-Age=0", "p=; Max-Age=0; Secure"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := NewTemplate(&tt.cookie)
			if err != nil {
				t.Fatal(err)
			}
			built := func(secure bool) string {
				return string(tpl.End(append(tpl.Begin(nil), 'v'), secure))
			}
			lines := []struct{ what, got, want string }{
				{"plain", tpl.Line("v", false), tt.plain},
				{"plain, built", built(false), tt.plain},
				{"secure", tpl.Line("v", true), tt.secure},
				{"secure, built", built(true), tt.secure},
				{"clear", tpl.Clear(false), tt.clear},
				{"clear, secure", tpl.Clear(true), tt.clearSecured},
			}
			for _, l := range lines {
				if l.got != l.want {
					t.Errorf("%s: %q, want %q", l.what, l.got, l.want)
				}
			}
		})
	}
}

func TestNewTemplateRefuses(t *testing.T) {
	for _, c := range []http.Cookie{
		{Name: ""},
		{Name: "a b"},
		{Name: "p", Path: "/a;b"},
		{Name: "p", Domain: "exa mple.com"},
	} {
		if tpl, err := NewTemplate(&c); err == nil {
			t.Errorf("%+v is accepted: %q", c, tpl.Line("v", false))
		}
	}
}
