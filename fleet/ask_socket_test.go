package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// desk runs one until the test ends.
func desk(t *testing.T, s *redistest.Server, name string, answer func(context.Context, Question) (json.RawMessage, error)) *Desk {
	t.Helper()
	conn, err := redisline.ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	d := NewDesk(DeskOptions{Conn: conn, Room: "t", Name: name, Answer: answer})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		<-done
		conn.Close()
	})
	return d
}

func TestAsk(t *testing.T) {
	s := redistest.Start(t)
	desk(t, s, "b", func(_ context.Context, q Question) (json.RawMessage, error) {
		switch q.What {
		case "visitors":
			return json.Marshal(q.Query)
		case "large":
			return json.Marshal(strings.Repeat("x", answerBytes))
		case "nothing":
			return nil, &Refused{http.StatusNotFound, "there is nothing"}
		}
		return nil, errors.New("it is broken")
	})
	a := desk(t, s, "a", nil)
	var got json.RawMessage
	rawtest.Until(t, "b answers", func() (ok bool) { // once it listens
		var err error
		got, err = a.Ask(t.Context(), "b", "visitors", "q=x&page=2")
		return err == nil
	})
	if string(got) != `"q=x\u0026page=2"` {
		t.Errorf("answer %s", got)
	}
	for what, want := range map[string]Refused{
		"nothing": {404, "there is nothing"}, "other": {500, "it is broken"},
		"large": {500, "the answer has 4194306 bytes, more than are sent to another instance"},
	} {
		_, err := a.Ask(t.Context(), "b", what, "")
		if r, ok := errors.AsType[*Refused](err); !ok || *r != want {
			t.Errorf("%s: %v, want %+v", what, err, want)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := a.Ask(short, "c", "visitors", ""); err == nil || !strings.Contains(err.Error(), "c does not answer") {
		t.Errorf("an instance that is not there: %v", err)
	}
}
