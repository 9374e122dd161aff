package signed

import (
	"strings"
	"testing"
)

// FuzzOpen checks that whatever is Valid is exactly what signing its payload
// gives, by one of the keys: a token has one spelling, and none can be made up.
func FuzzOpen(f *testing.F) {
	k, old := newKeyring(f, "b", "a"), newKeyring(f, "a")
	for _, payload := range []string{"", "x", "0123456789abcdef12345678"} {
		f.Add(string(k.AppendToken(nil, []byte(payload))))
		f.Add(string(old.AppendToken(nil, []byte(payload))))
		f.Add(string(newKeyring(f, "c").AppendToken(nil, []byte(payload))))
	}
	f.Add("")
	f.Add("AQ")
	f.Add("x")
	f.Add(strings.Repeat("A", maxToken+1))
	f.Add("not base64url +/==\r\n")
	f.Fuzz(func(t *testing.T, token string) {
		payload, verdict := k.Open(nil, token)
		if verdict != Valid {
			if payload != nil {
				t.Fatalf("%v, yet a payload %q", verdict, payload)
			}
			if (verdict == Missing) != (token == "") {
				t.Fatalf("%q is %v", token, verdict)
			}
			return
		}
		if string(k.AppendToken(nil, payload)) != token && string(old.AppendToken(nil, payload)) != token {
			t.Fatalf("%q is not how %q is signed", token, payload)
		}
	})
}

// FuzzRoundTrip checks that what is signed can be opened, whatever it is.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte{0, 255, '=', ';'})
	k := newKeyring(f, "a")
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > MaxPayload {
			return
		}
		got, verdict := k.Open(nil, string(k.AppendToken(nil, payload)))
		if verdict != Valid || string(got) != string(payload) {
			t.Fatalf("%v, %q; want %q", verdict, got, payload)
		}
	})
}
