package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// member is an instance that remembers what it was told.
type member struct {
	log *Log

	mu    sync.Mutex // guards known
	known map[string]string
}

func (m *member) take(x Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Data == nil {
		delete(m.known, x.Kind+x.Key)
		return
	}
	m.known[x.Kind+x.Key] = string(x.Data)
}

func (m *member) knows(key, want string) func() bool {
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.known[key] == want
	}
}

// start runs a member until the test ends.
func start(t *testing.T, s *redistest.Server, name string, all ...Message) *member {
	t.Helper()
	conn, err := redisline.ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	m := &member{known: map[string]string{}}
	m.log = New(Options{Conn: conn, Room: "t", Instance: name, Take: m.take, All: func(tell func(Message)) {
		for _, x := range all {
			tell(x)
		}
	}})
	if err := m.log.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { m.log.Run(ctx); close(done) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		<-done
		conn.Close()
	})
	return m
}

func kept(key, value string) Message {
	return Message{Kind: "k", Key: key, Data: json.RawMessage(value), Keep: true}
}

func TestToldToAll(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := start(t, s, "my-a"), start(t, s, "my-b")
	began := time.Now()
	a.log.Tell(kept("1", `"x"`))
	rawtest.Until(t, "b knows", b.knows("k1", `"x"`))
	t.Logf("it took %v", time.Since(began))
	b.log.Tell(kept("1", `"y"`))
	b.log.Tell(Message{Kind: "k", Key: "2", Data: json.RawMessage(`1`)}) // not kept
	b.log.Tell(Message{Kind: "k", Key: "3", Data: json.RawMessage(`1`), Keep: true, Until: time.Now().Unix() - 5})
	rawtest.Until(t, "a knows", a.knows("k3", "1"))
	if !a.knows("k1", `"y"`)() || !a.knows("k2", "1")() {
		t.Error("a missed something on the way")
	}
	a.log.Tell(kept("4", "4")) // with this, what has ended is forgotten
	rawtest.Until(t, "b knows", b.knows("k4", "4"))
	c := start(t, s, "my-c")
	for key, want := range map[string]string{"k1": `"y"`, "k2": "", "k3": "", "k4": "4"} {
		if !c.knows(key, want)() {
			t.Errorf("who starts later does not know %s as %q", key, want)
		}
	}
	a.log.Tell(Message{Kind: "k", Key: "1", Keep: true})
	rawtest.Until(t, "c knows that it is gone", c.knows("k1", ""))
	if o := (Message{From: a.log.me}).Owner(); o != "my-a" {
		t.Errorf("a message of my-a is from %q", o)
	}
}

func TestToldInAnOutage(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	old := kept("old", "0")
	a, b := start(t, s, "a", old), start(t, s, "b", kept("b", "1"))
	rawtest.Until(t, "b knows what there was", b.knows("kold", "0"))
	s.Kill()
	a.log.Tell(kept("1", "1"))
	for k := range MostUntold + 50 { // more than is remembered, none of it to be kept
		a.log.Tell(Message{Kind: "n", Key: fmt.Sprint(k % 10), Data: json.RawMessage(`0`)})
	}
	a.log.Tell(kept("2", "2"))
	s.Restart() // without its memory
	rawtest.Until(t, "b knows what was told meanwhile", b.knows("k2", "2"))
	if !b.knows("k1", "1")() {
		t.Error("what was to be kept was dropped")
	}
	var c *member
	rawtest.Until(t, "everybody has told what they know", func() bool {
		c = start(t, s, "c")
		return c.knows("kold", "0")() && c.knows("kb", "1")()
	})
	if !c.knows("k1", "1")() {
		t.Error("who starts after the outage does not know what was told in it")
	}
}
