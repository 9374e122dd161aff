package api

import (
	"strings"
	"testing"
	"time"
)

// TestOperatorAPI goes through every row of the specification.
func TestOperatorAPI(t *testing.T) {
	r := newRig(t, Limits{})
	made := r.admin(201, "POST", "/rooms", `{"id":"demo","name":"Demo","inflow":5,"interval":"2s","queue_ttl_sec":7200,"target_url":"http://127.0.0.1:8089"}`)
	for key, want := range map[string]any{"id": "demo", "name": "Demo", "inflow": 5.0, "interval_sec": 2.0, "burst": 0.0, "cap": 0.0, "enabled": true,
		"queue_ttl_sec": 7200.0, "access_ttl_sec": 900.0, "audience": "demo", "target_url": "http://127.0.0.1:8089",
		"status": "open", "issued": 0.0, "admitted": 0.0, "queue_length": 0.0, "passed_total": 0.0} {
		if made.json[key] != want {
			t.Errorf("%s is %v, want %v", key, made.json[key], want)
		}
	}
	r.admin(409, "POST", "/rooms", `{"id":"demo"}`)
	if rooms, _ := r.admin(200, "GET", "/rooms", "").json["rooms"].([]any); len(rooms) != 1 {
		t.Errorf("%d rooms", len(rooms))
	}
	if p := r.admin(200, "PATCH", "/rooms/demo", `{"inflow":1,"interval":10,"burst":1,"enabled":true,"cap":50}`); p.json["inflow"] != 1.0 || p.json["interval_sec"] != 10.0 || p.json["cap"] != 50.0 {
		t.Errorf("%s", p.Body)
	}
	for range 4 {
		r.join()
	}
	for action, want := range map[string]string{"pause": "paused", "resume": "open"} {
		if p := r.admin(200, "POST", "/rooms/demo/actions", `{"action":"`+action+`"}`); action == "pause" && p.text("status") != want {
			t.Errorf("%s: %s", action, p.Body)
		}
	}
	if p := r.admin(200, "POST", "/rooms/demo/actions", `{"action":"open"}`); p.text("status") != "open" || p.json["queue_length"] != 0.0 || p.json["admitted"] != 4.0 {
		t.Errorf("open: %s", p.Body)
	}
}

// TestStatsAndAudit checks what operators look at afterwards.
func TestStatsAndAudit(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	r.access()
	r.join()
	r.now = r.now.Add(time.Minute)
	st := r.admin(200, "GET", "/rooms/demo/stats", "")
	series, _ := st.json["passed_per_minute"].([]any)
	if st.json["passed_total"] != 1.0 || st.json["passed_last_minute"] != 1.0 || st.json["peak_queue_length"] != 1.0 || st.json["peak_pass_rate"] != 1.0 ||
		st.text("peak_queue_length_at") != "2026-03-01T12:00:00Z" || st.text("peak_pass_rate_at") != "2026-03-01T12:00:00Z" || len(series) != 60 {
		t.Errorf("stats: %s", st.Body)
	}
	r.admin(201, "POST", "/rooms", `{"id":"quiet"}`)
	all := r.admin(200, "GET", "/stats", "")
	if all.json["rooms"] != 2.0 || all.json["passed_total"] != 1.0 || all.json["peak_queue_length"] != 1.0 || all.text("peak_queue_length_room") != "demo" {
		t.Errorf("aggregate: %s", all.Body)
	}
	if p := r.admin(200, "GET", "/rooms/quiet/stats", ""); p.json["peak_queue_length_at"] != nil {
		t.Errorf("quiet: %s", p.Body)
	}
	r.admin(200, "PATCH", "/rooms/demo", `{"inflow":9}`)
	audit, _ := r.admin(200, "GET", "/rooms/demo/audit?limit=1", "").json["audit"].([]any)
	if len(audit) != 1 || !strings.Contains(r.admin(200, "GET", "/rooms/demo/audit", "").Body.String(), `"who":"token","client":"192.0.2.1","what":"update","changes":[{"key":"inflow","from":"1","to":"9"}]`) {
		t.Errorf("audit: %v", audit)
	}
	r.admin(400, "GET", "/rooms/demo/audit?limit=x", "")
	r.admin(204, "DELETE", "/rooms/demo", "")
	for _, path := range []string{"", "/stats", "/audit", "/messages"} {
		r.admin(404, "GET", "/rooms/demo"+path, "")
	}
}

func TestMessages(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	if p := r.admin(201, "POST", "/rooms/demo/messages", `{"text":"Did you know…"}`); p.text("id") != "1" || p.text("level") != "info" || p.json["enabled"] != true {
		t.Errorf("%s", p.Body)
	}
	if p := r.admin(200, "PATCH", "/rooms/demo/messages/1", `{"enabled":false,"level":"warning"}`); p.text("text") != "Did you know…" || p.text("level") != "warning" || p.json["enabled"] != false {
		t.Errorf("%s", p.Body)
	}
	r.admin(200, "GET", "/rooms/demo/messages/1", "")
	if list, _ := r.admin(200, "GET", "/rooms/demo/messages", "").json["messages"].([]any); len(list) != 1 {
		t.Errorf("%v", list)
	}
	r.admin(204, "DELETE", "/rooms/demo/messages/1", "")
	r.admin(404, "PATCH", "/rooms/demo/messages/1", `{"enabled":true}`)
	r.admin(404, "GET", "/rooms/demo/messages/1", "")
	r.admin(400, "POST", "/rooms/demo/messages", `{"text":"x","level":"loud"}`)
}

func TestOperatorsSendNonsense(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	f := func(path, body, want string) {
		t.Helper()
		method := "POST"
		if path == "/rooms/demo" {
			method = "PATCH"
		}
		p := r.send(r.operators, method, "/api/v1/admin"+path, adminToken, body)
		if p.Code != 400 || !strings.Contains(p.text("error"), want) {
			t.Errorf("%s %s: %d %s, want %q", path, body, p.Code, p.Body, want)
		}
	}
	f("/rooms", `{"id":"Bad Id","inflow":-1}`, "inflow -1: want 1 to 1000000")
	f("/rooms", `{"id":"x","infloww":1}`, "infloww")
	f("/rooms", `{`, "unexpected")
	f("/rooms/demo", `{"inflow":"many"}`, `inflow "many": want a whole number`)
	f("/rooms/demo", `{"inflow":"many","burst":-1,"enabled":"yes","kap":1}`, // all at once
		`"kap" is no member of a room: there are access_ttl_sec, audience, burst, cap, enabled, inflow, interval_sec, name, queue_ttl_sec, target_url; `)
	f("/rooms/demo", `{"inflow":"many","burst":-1,"enabled":"yes"}`, `enabled "yes": want true or false; inflow "many": want a whole number; burst -1: want 0 to 1000000`)
	f("/rooms", `{"id":7,"inflow":"many"}`, `inflow "many": want a whole number; id 7: want text; id ""`)
	f("/rooms/demo", `{"interval":"1.5s"}`, "whole seconds")
	f("/rooms/demo", `{"interval":1.5}`, "whole seconds")
	f("/rooms/demo", `{"interval":10,"interval_sec":10}`, "not both")
	f("/rooms/demo", `{"id":"other"}`, "id")
	f("/rooms/demo/actions", `{"action":"explode"}`, "pause, resume, open or reset")
	f("/rooms/demo/actions", ``, "pause, resume, open or reset")
	p := r.send(r.operators, "PATCH", "/api/v1/admin/rooms/demo", adminToken, "")
	if p.Code != 200 {
		t.Errorf("nothing to change: %d %s", p.Code, p.Body)
	}
}

func TestOperatorsNeedTheToken(t *testing.T) {
	r := newRig(t, Limits{})
	for _, bearer := range []string{"", "wrong", adminToken + "x"} {
		p := r.send(r.operators, "GET", "/api/v1/admin/rooms", bearer, "")
		if p.Code != 401 || p.Header().Get("WWW-Authenticate") == "" || strings.Contains(p.Body.String(), "rooms") {
			t.Errorf("%q: %d %s", bearer, p.Code, p.Body)
		}
	}
	for range wrongTokens {
		r.send(r.operators, "GET", "/api/v1/admin/rooms", "wrong", "")
	}
	if p := r.send(r.operators, "GET", "/api/v1/admin/rooms", "wrong", ""); p.Code != 429 {
		t.Errorf("somebody who guesses: %d", p.Code)
	}
	r.admin(200, "GET", "/rooms", "") // who has it gets in all the same
}
