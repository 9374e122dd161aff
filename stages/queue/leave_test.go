package queue

import (
	"net/http"
	"strings"
	"testing"
)

func TestLeave(t *testing.T) {
	tests := []struct {
		name     string
		options  []option
		code     int
		location string
		leaves   bool
	}{
		{"script", []option{accept("*/*"), header("Sec-Fetch-Site", "same-origin")}, 204, "", true},
		{"form", []option{html, header("Sec-Fetch-Site", "same-origin")}, 303, LeavePath, true},
		{"program", nil, 204, "", true},
		{"old browser", []option{html, header("Origin", "http://example.com")}, 303, LeavePath, true},
		{"another site", []option{html, header("Sec-Fetch-Site", "cross-site")}, 403, "", false},
		{"another host of the site", []option{html, header("Sec-Fetch-Site", "same-site")}, 403, "", false},
		{"another site, old browser", []option{html, header("Origin", "https://evil.example")}, 403, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, newLine(oneSlot()), nil)
			r.fill()
			mine := ticketOf(r.do("GET", "/", html))
			behind := ticketOf(r.do("GET", "/", html))
			w := r.do("POST", LeavePath, append(tt.options, cookie(mine))...)
			if w.Code != tt.code || w.Header().Get("Location") != tt.location {
				t.Errorf("status %d, Location %q", w.Code, w.Header().Get("Location"))
			}
			if w.Header().Get("Cache-Control") != "no-store" {
				t.Error("the answer may be cached")
			}
			set := strings.Join(w.Header()["Set-Cookie"], "\n")
			if cleared := strings.Contains(set, "room_ticket=; ") && strings.Contains(set, "Max-Age=0"); cleared != tt.leaves {
				t.Errorf("cookies %q", set)
			}
			want := 2
			if tt.leaves {
				want = 1
			}
			if st := decode(t, r.do("GET", StatusPath, cookie(behind))); st.Position != want {
				t.Errorf("who stands behind is at %d, want %d", st.Position, want)
			}
		})
	}
}

func TestLeaveWithoutAPlace(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	for _, pairs := range []string{"", "room_ticket=x"} {
		if w := r.do("POST", LeavePath, cookie(pairs)); w.Code != http.StatusNoContent {
			t.Errorf("%q: status %d", pairs, w.Code)
		}
	}
	if got := r.stage.Stats().Left; got != 0 {
		t.Errorf("%d places given back", got)
	}
}

func TestFarewell(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	w := r.do("GET", LeavePath, html)
	if !strings.Contains(w.Body.String(), "You have left the line") || strings.Contains(w.Body.String(), StatusPath) {
		t.Errorf("body %.300s", w.Body)
	}
	checkPrivate(t, w)
	if w.Header().Get("Content-Security-Policy") == "" {
		t.Error("no policy")
	}
}
