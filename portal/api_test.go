package portal

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// described is a session whose every answer is held against the description.
type described struct {
	*signed
	doc document
}

func (r *rig) describes(pass string) *described {
	r.tb.Helper()
	d := &described{signed: r.signIn(pass)}
	if err := json.Unmarshal(OpenAPI(), &d.doc); err != nil {
		r.tb.Fatal(err)
	}
	return d
}

// want is signed.want, and holds the answer against the description.
func (d *described) want(t *testing.T, status int, method, target, body string, parts ...string) string {
	t.Helper()
	text := d.signed.want(status, method, target, body, parts...)
	holdTo(t, &d.doc, method, target, status, []byte(text))
	return text
}

// value reads one field of an answer.
func value(t *testing.T, text, field string) any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all[field]
}

func TestReadingEverything(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	r.queueUp("192.0.2.1", "2001:db8::1")
	r.sample(time.Now())
	r.sample(time.Now().Add(sampleEvery))
	s.want(t, 200, "POST", "/api/bans", `{"client":"203.0.113.0/24","duration":"1h"}`)
	s.want(t, 200, "POST", "/api/bans", `{"client":"203.0.113.9","permanent":true}`)
	for target, part := range map[string]string{
		"/api/overview":                      `"active_bans":2`,
		"/api/series":                        `"step_ms":5000`,
		"/api/series?since=99999999999999":   `"at":[]`,
		"/api/queue":                         `"client":"2001:db8::/64"`,
		"/api/queue?offset=1":                `"listed":1`,
		"/api/queue?offset=9":                `"occupants":[]`,
		"/api/queue/find?q=192.0.2.1":        `They are next`,
		"/api/queue/find?q=192.0.2.0/24":     `"path":"/shop?of=192.0.2.1"`,
		"/api/queue/find?q=":                 `"problem"`,
		"/api/queue/find?q=nonsense":         `is no address`,
		"/api/bans":                          `"until":null`,
		"/api/bans?q=203.0.113.9":            `"total":1`,
		"/api/bans/preview?client=192.0.2.1": `"waiting":1`,
		"/api/settings":                      `"key":"cap"`,
		"/api/settings/history":              `"acts":[]`,
		"/api/history":                       `"limits"`,
		"/api/history?flagged=1&q=x":         `"clients":[]`,
		"/api/sessions":                      `"current":true`,
		"/api/audit":                         `"acts":`,
		"/api/frag/queue":                    `"total":2`,
		"/api/frag/bans":                     `"total":2`,
		"/api/frag/visitors":                 `"total":0`,
		"/api/frag/banlog":                   `"total":0`,
		"/api/frag/find?q=192.0.2.1":         `"html"`,
	} {
		s.want(t, 200, "GET", target, "", part)
	}
	for _, target := range []string{
		"/api/queue?offset=-1", "/api/queue?offset=x", "/api/series?since=x", "/api/bans?offset=x", "/api/bans/preview", "/api/bans/preview?client=x",
		"/api/history?flagged=perhaps", "/api/history/client", "/api/history/client?client=x", "/api/history/ban", "/api/history/ban?id=0", "/api/audit?limit=x",
		"/api/frag/visitor", "/api/frag/ban?id=x",
	} {
		s.want(t, 400, "GET", target, "", `"error"`)
	}
	for _, target := range []string{"/api/history/client?client=192.0.2.1", "/api/history/ban?id=9", "/api/frag/visitor?client=192.0.2.1", "/api/frag/ban?id=9"} {
		s.want(t, 404, "GET", target, "", "not in the history")
	}
}

func TestPromoting(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	ids := r.queueUp("192.0.2.1", "192.0.2.2", "192.0.2.3")
	s.want(t, 200, "POST", "/api/queue/promote", `{"id":"`+ids[2]+`"}`, `"promoted":"`+ids[2]+`"`, `"position":1`)
	s.want(t, 200, "POST", "/api/queue/promote", `{"id":"`+ids[1]+`"}`, `"position":2`) // first come, first served
	s.want(t, 200, "GET", "/api/queue", "", `"promoted":true`)
	s.want(t, 404, "POST", "/api/queue/promote", `{"id":"00000000000000ff"}`, "no such visitor")
	for _, body := range []string{`{}`, `{"id":""}`, `{"id":"x"}`, `{"id":"ff"}`, `{"id":1}`, `{"ids":"x"}`, `{"id":"00000000000000ff"}{}`, ``} {
		s.want(t, 400, "POST", "/api/queue/promote", body)
	}
	if got := r.whats(); got != "sign-in promote" {
		t.Errorf("audit %q", got)
	}
}

func TestKicking(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	ids := r.queueUp("192.0.2.1", "192.0.2.2", "192.0.2.3", "198.51.100.1", "192.0.2.3")
	s.want(t, 200, "POST", "/api/queue/kick", `{"id":"`+ids[0]+`"}`, `"kicked":"`+ids[0]+`"`, `"banned":false`, `"ban_seconds":0`)
	s.want(t, 404, "POST", "/api/queue/kick", `{"id":"`+ids[0]+`"}`, "removed already")
	s.want(t, 200, "POST", "/api/queue/kick", `{"id":"`+ids[1]+`","ban":true}`, `"banned":true`, `"ban_seconds":300`)
	s.want(t, 409, "POST", "/api/queue/kick", `{"id":"`+ids[3]+`","ban":true}`, "exempt")
	s.want(t, 200, "POST", "/api/queue/kick", `{"id":"`+ids[2]+`","ban":true,"permanent":true,"note":"rude"}`, `"ban_seconds":0`, `"banned":true`)
	for _, body := range []string{`{}`, `{"id":"` + ids[3] + `","duration":"1h"}`, `{"id":"` + ids[3] + `","ban":true,"duration":"1s"}`, `{"id":"` + ids[3] + `","ban":"yes"}`} {
		s.want(t, 400, "POST", "/api/queue/kick", body)
	}
	s.want(t, 200, "GET", "/api/queue", "", `"listed":1`, ids[3], `"kicked":3`)
	for i, want := range []bool{true, true, true, false, false} {
		k, _ := parseID(ids[i])
		if r.Removed(k) != want {
			t.Errorf("visitor %d is told that they were removed: %v", i, !want)
		}
	}
	s.want(t, 200, "GET", "/api/queue/find?q="+ids[0], "", `"ended":"removed"`)
}

func TestBanning(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	r.queueUp("192.0.2.1", "192.0.2.2", "192.0.3.1", "198.51.100.1")
	s.want(t, 200, "GET", "/api/bans/preview?client=192.0.2.7/24", "", `"client":"192.0.2.0/24"`, `"range":true`, `"waiting":2`, `"current":""`, `"self":false`, `"problem":""`)
	s.want(t, 200, "GET", "/api/bans/preview?client=198.51.100.0/24", "", `"exempt_within":["198.51.100.0/28"]`, `"waiting":0`)
	s.want(t, 200, "GET", "/api/bans/preview?client=127.0.0.0/8", "", `"self":true`)
	s.want(t, 200, "GET", "/api/bans/preview?client=198.51.100.1", "", `exempt`)
	made := s.want(t, 200, "POST", "/api/bans", `{"client":"192.0.2.0/24","duration":"1h","note":"<b>loud</b>"}`, `"dropped":2`, `"range":true`, `"permanent":false`, `"exempt_within":[]`)
	s.want(t, 200, "GET", "/api/bans", "", `"enabled":true`, `"ranges":1`, `"persisted":false`, `"by":"admin operator `)
	again := s.want(t, 200, "POST", "/api/bans", `{"client":"192.0.2.0/24","permanent":true}`, `"until":null`, `"offenses":1`)

	s.want(t, 409, "POST", "/api/undo", `{"undo":"`+value(t, made, "undo").(string)+`"}`, "changed since")
	s.want(t, 200, "POST", "/api/undo", `{"undo":"`+value(t, again, "undo").(string)+`"}`, `"banned":true`)
	s.want(t, 200, "GET", "/api/bans", "", `"permanent":false`, `"note":"\u003cb\u003eloud\u003c/b\u003e"`)
	s.want(t, 404, "POST", "/api/undo", `{"undo":"`+value(t, again, "undo").(string)+`"}`)

	lifted := s.want(t, 200, "DELETE", "/api/bans?client=192.0.2.0/24", "", `"unbanned":"192.0.2.0/24"`)
	s.want(t, 404, "DELETE", "/api/bans?client=192.0.2.0/24", "", "not banned")
	s.want(t, 200, "POST", "/api/undo", `{"undo":"`+value(t, lifted, "undo").(string)+`"}`, `"banned":true`)
	first := s.want(t, 200, "POST", "/api/bans", `{"client":"192.0.3.1","duration":"1m"}`, `"dropped":1`)
	s.want(t, 200, "POST", "/api/undo", `{"undo":"`+value(t, first, "undo").(string)+`"}`, `"banned":false`)

	for _, body := range []string{`{}`, `{"client":"x","duration":"1h"}`, `{"client":"192.0.2.1","duration":"59s"}`, `{"client":"192.0.2.1","duration":"8761h"}`,
		`{"client":"192.0.2.1","duration":"1h","permanent":true}`, `{"client":"192.0.2.1"}`, `{"client":"10.0.0.0/7","duration":"1h"}`, `{"client":"192.0.2.1","duration":"1h","note":"` + strings.Repeat("x", 501) + `"}`} {
		s.want(t, 400, "POST", "/api/bans", body)
	}
	s.want(t, 409, "POST", "/api/bans", `{"client":"127.0.0.1","duration":"1h"}`, "exempt")
	s.want(t, 400, "DELETE", "/api/bans", "")
	r.program.saveErr = &Problem{Status: 1, Err: http.ErrBodyNotAllowed}
	s.want(t, 500, "POST", "/api/bans", `{"client":"192.0.2.9","duration":"1h"}`)
}

// TestLongerBansStay: to remove and ban must not let somebody out early.
func TestLongerBansStay(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	s.want(t, 200, "POST", "/api/bans", `{"client":"192.0.2.1","permanent":true}`)
	ids := r.queueUp("192.0.2.1")
	s.want(t, 200, "POST", "/api/queue/kick", `{"id":"`+ids[0]+`","ban":true}`, `"ban_seconds":0`, `"banned":true`)
	s.want(t, 200, "GET", "/api/bans", "", `"permanent":true`)
}

func TestChangingSettings(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	s.want(t, 200, "POST", "/api/settings?dry-run=1", `{"cap":3}`, `"dry_run":true`)
	s.want(t, 200, "POST", "/api/settings", `{"cap":3,"message":null}`, `"dry_run":false`, `"settings":[`)
	s.want(t, 200, "DELETE", "/api/settings?key=cap&key=message", "", `"dry_run":false`)
	s.want(t, 200, "POST", "/api/settings/undo", "", `"dry_run":false`)
	s.want(t, 200, "POST", "/api/room", `{"room":"paused"}`, `"changed"`)
	s.want(t, 200, "POST", "/api/cap?dry-run=1", `{"cap":7}`, `"dry_run":true`)
	var did []string
	for _, e := range r.program.edits {
		text, _ := json.Marshal(e.Set)
		did = append(did, strings.Trim(e.What+" "+string(text)+strings.Join(e.Reset, "+"), " "))
	}
	want := `settings {"cap":3}|settings {"cap":3,"message":null}|reset nullcap+message|undo null|room {"room":"paused"}|cap {"cap":7}`
	if got := strings.Join(did, "|"); got != want {
		t.Errorf("edits\n%s, want\n%s", got, want)
	}
	s.want(t, 400, "POST", "/api/settings", `{"cap":0}`, `"problems":[{"key":"cap","value":"0","want":"more"}]`)
	for target, body := range map[string]string{"/api/settings": `{}`, "/api/room": `{}`, "/api/cap": `{}`, "/api/settings?dry-run=perhaps": `{"cap":1}`, "/api/settings/undo?dry_run=1": ""} {
		s.want(t, 400, "POST", target, body)
	}
	s.want(t, 400, "DELETE", "/api/settings", "")
}

func TestFindingByReference(t *testing.T) {
	r := newRig(t)
	s := r.describes(operatorPass)
	ids := r.queueUp("192.0.2.1", "192.0.2.2")
	s.want(t, 200, "GET", "/api/queue/find?q=ref-"+ids[1], "", `"client":"192.0.2.2"`, `"position":2`)
	if err := r.line.Quit(t.Context(), time.Now(), mustID(t, ids[1])); err != nil {
		t.Fatal(err)
	}
	s.want(t, 200, "GET", "/api/queue/find?q=ref-"+ids[1], "", `"ended":"expired"`, `"found":[]`)
}

func mustID(t *testing.T, id string) line.Ticket {
	t.Helper()
	k, ok := parseID(id)
	if !ok {
		t.Fatal(id)
	}
	return k
}
