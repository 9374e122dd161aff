package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/config"
)

// A program with a server of its own gets the operators' pages as a handler, and
// none when there are none.
func TestPortalHandler(t *testing.T) {
	if newApp(t).PortalHandler() != nil {
		t.Error("without a portal there is a handler")
	}
	loaded, err := config.Load([]string{"-data-dir=", "-portal-listen=127.0.0.1:0"}, []string{"CONCERT_PORTAL_PASS=" + strings.Repeat("p", 32)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(loaded.Config, Options{Origin: instant{}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
	r.RemoteAddr = "127.0.0.1:50000" // where operators may come from by default
	w := httptest.NewRecorder()
	a.PortalHandler().ServeHTTP(w, r)
	if body := w.Body.String(); !strings.Contains(body, `id="pass"`) {
		t.Errorf("status %d, %.300s", w.Code, body)
	}
}
