package queue

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/line"
)

// TestNoReasonIsMadeUp: where places are sold, who fell back is not told that
// somebody came back.
func TestNoReasonIsMadeUp(t *testing.T) {
	s := &settings{cfg: Config{Overtaken: true}}
	if got := s.reason("seen=5.600", line.Place{Position: 6, ETA: time.Hour}, false); got != "" {
		t.Errorf("reason %q", got)
	}
	if got := s.reason("seen=5.600", line.Place{Position: 5, ETA: time.Hour}, false); got != reasonSlower {
		t.Errorf("reason %q, want %q", got, reasonSlower)
	}
}

func TestReason(t *testing.T) {
	f := func(query string, position int, eta time.Duration, paused bool, want string) {
		t.Helper()
		if got := reason(query, line.Place{Position: position, ETA: eta}, paused); got != want {
			t.Errorf("%q, place %d, %v: %q, want %q", query, position, eta, got, want)
		}
	}
	f("", 5, time.Hour, false, "")
	f("seen=", 5, time.Hour, false, "")
	f("seen=x.60", 5, time.Hour, false, "")
	f("unseen=4.60", 5, time.Hour, false, "")
	f("seen=5.600", 5, 600*time.Second, false, "")
	f("seen=5.600", 4, 810*time.Second, false, "")
	f("seen=5.600", 4, 811*time.Second, false, reasonSlower)
	f("seen=5.0", 5, 60*time.Second, false, "")
	f("seen=5.0", 5, 61*time.Second, false, reasonSlower)
	f("seen=5.600", 6, 600*time.Second, false, reasonReturned)
	f("seen=5.600", 6, time.Hour, false, reasonReturned)
	f("a=b&seen=5&c", 6, time.Hour, false, reasonReturned)
	f("seen=5", 5, time.Hour, false, "")
	f("seen=5.-1", 5, time.Hour, false, "")
	f("seen=5.x", 5, time.Hour, false, "")
	f("seen=5.600", 5, -1, false, reasonSlower)
	f("seen=5.-1", 5, -1, false, "")
	f("", 5, -1, false, "")
	f("seen=5.600", 5, -1, true, reasonPaused)
	f("", 1, 0, true, reasonPaused)
	f("seen=99999999999999999999.1", 1, time.Hour, false, "")
}

// TestStatusTellsTheReason goes the whole way to the JSON.
func TestStatusTellsTheReason(t *testing.T) {
	settings := oneSlot()
	l := newLine(settings)
	now := time.Now()
	r := newRig(t, l, func(c *Config) { c.Now = func() time.Time { return now } })
	r.fill()
	join(t, l)
	mine := cookie(ticketOf(r.do("GET", "/", html)))
	poll := func(query string) status {
		t.Helper()
		now = now.Add(2 * time.Second)
		return decode(t, r.do("GET", StatusPath+query, mine))
	}
	if st := poll("?seen=2.0"); st.Reason != "" {
		t.Errorf("nothing changed: reason %q", st.Reason)
	}
	if st := poll("?seen=1.0"); st.Reason != reasonReturned {
		t.Errorf("one more ahead: reason %q", st.Reason)
	}
	settings.Mode = line.Paused
	if err := l.Configure(t.Context(), now, settings); err != nil {
		t.Fatal(err)
	}
	if st := poll(""); st.Reason != reasonPaused || st.Position != 2 {
		t.Errorf("paused: %+v", st)
	}
}

func TestMessage(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := cookie(ticketOf(r.do("GET", "/", html)))
	german := header("Accept-Language", "de")
	c := r.stage.live.Load().cfg
	show := func(text string, warning bool) {
		t.Helper()
		var err error
		if c.Look.Message, err = notice.Parse(text); err != nil {
			t.Fatal(err)
		}
		c.Look.Warning = warning
		if err := r.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	want := func(text, level string, options ...option) {
		t.Helper()
		if st := decode(t, r.do("GET", StatusPath, append(options, mine)...)); st.Message != text || st.MessageLevel != level {
			t.Errorf("status says %q, %q; want %q, %q", st.Message, st.MessageLevel, text, level)
		}
		r.stage.polls = paceTable{} // the next poll is not hasty
	}
	want("", "")
	show(`"Soon" </script> & later | de=Bald.`, true)
	want(`"Soon" </script> & later`, "warning")
	want("Bald.", "warning", german)
	if body := r.do("GET", "/", html, mine, german).Body.String(); !strings.Contains(body, `class="note warning" role="status"><strong id="message-label">Wichtig</strong> <span id="message-text" dir="auto">Bald.<`) {
		t.Error("the page lacks the warning")
	}
	if body := r.do("GET", "/", html, mine).Body.String(); !strings.Contains(body, `>&#34;Soon&#34; &lt;/script&gt; &amp; later<`) {
		t.Error("the page lacks the escaped text")
	}
	show("Hello.", false)
	want("Hello.", "info", german)
	show("", false)
	want("", "")
	if body := r.do("GET", "/", html, mine).Body.String(); !strings.Contains(body, `role="status" hidden><strong id="message-label">`) {
		t.Error("an empty message is shown")
	}
}

func TestLookIsChecked(t *testing.T) {
	c := newRig(t, newLine(oneSlot()), nil).stage.live.Load().cfg
	c.Look.Name, c.Look.Color, c.Look.Logo = "a\nb", "red", []byte("text")
	_, err := New(c)
	for _, want := range []string{"brand name", "brand color", "brand logo"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to name the %s", err, want)
		}
	}
}

// TestNoStrikesAfterARestart brings tickets that another secret signed, as all
// visitors do once a secret that was made up is gone.
func TestNoStrikesAfterARestart(t *testing.T) {
	now := time.Now()
	r := newRig(t, newLine(oneSlot()), func(c *Config) { c.Now = func() time.Time { return now } })
	r.fill()
	old := (&settings{cfg: Config{Tickets: keyring(t, "o")}}).appendTicket(nil, anyTicket())
	bring := func(value string) int32 {
		t.Helper()
		r.strikes.Store(0)
		if w := r.do("GET", "/", html, cookie(TicketCookie+"="+value)); w.Code != http.StatusOK {
			t.Fatalf("status %d", w.Code)
		}
		return r.strikes.Load()
	}
	if n := bring(string(old)); n != 0 {
		t.Errorf("a ticket from before: %d strikes", n)
	}
	if n := bring("made-up"); n != 1 {
		t.Errorf("a ticket made up: %d strikes", n)
	}
	now = now.Add(5 * time.Minute)
	if n := bring(string(old)); n != 1 {
		t.Errorf("when no such ticket can be alive: %d strikes", n)
	}
	c := r.stage.live.Load().cfg
	c.Tickets = keyring(t, "k") // another one of the same secret
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	if n := bring(string(old)); n != 1 {
		t.Errorf("after another change: %d strikes", n)
	}
	c.Tickets = keyring(t, "n")
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	if n := bring(string(old)); n != 0 {
		t.Errorf("after a new secret: %d strikes", n)
	}
}

// TestSettledSecretKnowsItsTickets: when the secret did not change with the
// start, whoever brings a ticket of another key made it up.
func TestSettledSecretKnowsItsTickets(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), func(c *Config) { c.Settled = true })
	r.fill()
	other := (&settings{cfg: Config{Tickets: keyring(t, "o")}}).appendTicket(nil, anyTicket())
	for i, value := range []string{string(other), "00000000000000000000000000000001"} {
		r.do("GET", "/", html, cookie(TicketCookie+"="+value))
		if n := r.strikes.Load(); n != int32(i+1) {
			t.Errorf("%q: %d strikes in all, want %d", value, n, i+1)
		}
	}
}

func TestEveryLanguageHasItsMessage(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	c := r.stage.live.Load().cfg
	var err error
	if c.Look.Message, err = notice.Parse("Soon. | ar=قريبا"); err != nil {
		t.Fatal(err)
	}
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	for _, l := range language.All() {
		want := `,"message":"Soon.","message_level":"info"`
		if l == language.Arabic {
			want = `,"message":"قريبا","message_level":"info"`
		}
		if got := string(r.stage.live.Load().messages.members[l]); got != want {
			t.Errorf("%s: %s", l.Code(), got)
		}
	}
}
