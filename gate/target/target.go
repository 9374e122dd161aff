package target

import (
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/gate/protect"
)

// Parse reads the options of a site from its environment, in the form of
// os.Environ: WAITING_ROOM_URL, GATE_ROOM, TOKEN_AUDIENCE, JWKS_URL,
// VALIDATE_URL, SESSION_KEY in hex, and SECURE_COOKIE, true for a site that a
// proxy serves over TLS.
func Parse(environ []string) (protect.Options, error) {
	env := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	o := protect.Options{
		WaitingRoomURL: env["WAITING_ROOM_URL"], Room: env["GATE_ROOM"], Audience: env["TOKEN_AUDIENCE"],
		JWKSURL: env["JWKS_URL"], ValidateURL: env["VALIDATE_URL"],
		SecureCookie: env["SECURE_COOKIE"] == "true",
	}
	if text := strings.TrimSpace(env["SESSION_KEY"]); text != "" {
		key, err := hex.DecodeString(text)
		if err != nil {
			return o, fmt.Errorf("SESSION_KEY: want hexadecimal digits: openssl rand -hex 32 makes such a key")
		}
		o.SessionKey = key
	}
	return o, nil
}

// New makes the site.
func New(o protect.Options) (http.Handler, error) {
	guard, err := protect.New(o)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }) // the client may have left
	site.Handle("/", guard.Wrap(http.HandlerFunc(page)))
	return site, nil
}

// page is the same for every address.
func page(w http.ResponseWriter, r *http.Request) {
	who := "Nobody is sent to the waiting room at present."
	if v, ok := protect.From(r); ok {
		who = fmt.Sprintf("You waited with ticket %d, and may stay until %s.", v.Ticket, v.Until.UTC().Format(time.TimeOnly+" MST"))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintf(w, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>The protected site</title></head>
<body><h1>The protected site</h1><p>This is <code id="address">%s</code>. <span id="who">%s</span></p></body></html>
`, html.EscapeString(r.URL.RequestURI()), who) // the client may have left
}
