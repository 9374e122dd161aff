package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// Wherever a crash cuts the file, everything before the cut is there again.
func TestCutAnywhere(t *testing.T) {
	path := logFile(t)
	l := open(t, path, nil)
	for i := range 20 {
		l.Observe(visit("192.0.2.1", fmt.Sprint("/", i), 200))
	}
	l.stop()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		at := r.IntN(len(whole))
		if err := os.WriteFile(path, whole[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, path, nil)
		l.Observe(visit("192.0.2.1", "/after", 200))
		l.stop()
		l = open(t, path, nil)
		l.stop()
		c, _ := l.Client(key("192.0.2.1"), time.Now())
		want := bytes.Count(whole[:at], []byte("\n")) + 1
		if whole[at] == '\n' {
			want++ // nothing but the end of the line is missing
		}
		if int(c.Requests) != want {
			t.Fatalf("cut at %d: %d requests, want %d", at, c.Requests, want)
		}
	}
}

// FuzzReplay: nothing in a file makes the reader fail, and what it has read can
// be written and read again.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(reqLine("/", 0) + "\n{\"t\":\"req\""))
	for _, line := range []string{
		`{"t":"agg","at":"2026-09-26T21:18:20Z","ip":"2001:db8::1","ban":3,"count":9,"paths":{"/":4},"other_paths":5}`,
		`{"t":"ban","at":"2026-09-26T21:18:20Z","ban":3,"target":"10.0.0.0/8","scope":"10.0.0.0/8","range":true,"permanent":true,"requests":4}`,
		`{"t":"lift","at":"2026-09-26T21:18:20Z","ban":3,"by":"x"}`,
		`{"t":"trig","at":"2026-09-26T21:18:20Z","ban":3,"trigger":{"client":"::1","path":"/"}}`,
	} {
		f.Add([]byte(line + "\n" + line))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		now := start.Add(time.Hour)
		h := inMemory()
		w := writer{h: h}
		r := newReplay(now)
		if err := r.read(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		h.settle(r)
		for _, b := range h.Bans(now) {
			if again, ok := h.Ban(b.Number, now); !ok || again.Number != b.Number {
				t.Fatalf("%+v", b)
			}
		}
		for _, c := range h.Search("", false, now).Clients {
			_, key, _ := readClient(c.Client)
			if _, ok := h.Client(key, now); !ok && c.Client != "-" {
				t.Fatalf("client %q cannot be asked for", c.Client)
			}
		}
		w.carry(now)
		again := newReplay(now)
		if err := again.read(bytes.NewReader(w.buf)); err != nil || again.bad > 0 {
			t.Fatalf("%d of our own lines are bad: %v\n%s", again.bad, err, w.buf)
		}
	})
}
