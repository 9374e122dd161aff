package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/ticks"
	redisline "github.com/andreimerlescu/concert/line/redis"
)

const (
	askFor      = 3 * time.Second // how long an answer is waited for
	answerKept  = 10              // seconds for which Redis keeps one
	answerBytes = 4 << 20         // the most that one may have
	answering   = 4               // questions that an instance works on at once
)

// Question is something that one instance wants to know of another. What it is
// about is between those two.
type Question struct {
	What  string `json:"what"`
	Query string `json:"query,omitempty"`

	Reply string `json:"reply"` // the key that the answer goes to
}

// Refused is what an instance answered instead of an answer.
type Refused struct {
	Status int // of HTTP
	Text   string
}

// Error implements error.
func (r *Refused) Error() string { return r.Text }

// answer is what goes over Redis.
type answer struct {
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status,omitempty"`
	Text   string          `json:"text,omitempty"`
}

// DeskOptions say who answers what.
type DeskOptions struct {
	Conn *redisline.Conn
	Room string
	// Name is that of this instance among all of the room, as the line has it.
	Name string
	// Answer answers a question; nil has this instance only ask. An error that
	// is a *Refused is told as it is, and any other as a failure.
	Answer func(ctx context.Context, q Question) (json.RawMessage, error)
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Desk is where an instance asks others, and is asked. Questions go over a
// channel of Redis, so one to an instance that is gone is lost at once; answers
// lie in keys that expire by themselves. It may be used by many goroutines.
type Desk struct {
	opt  DeskOptions
	busy chan struct{} // holds a value for each question that is worked on
}

// NewDesk makes a desk, which asks at once, and answers while Run runs.
func NewDesk(o DeskOptions) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{opt: o, busy: make(chan struct{}, answering)}
}

func (d *Desk) prefix() string { return "concert:{" + d.opt.Room + "}:fleet:" }

// Ask asks an instance. The error says why there is no answer; it is a *Refused
// when that instance said so itself.
func (d *Desk) Ask(ctx context.Context, instance, what, query string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	client, err := d.opt.Conn.Client()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", instance, err)
	}
	q := Question{what, query, d.prefix() + "answer:" + rand.Text()}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", instance, err)
	}
	publish := client.B().Publish().Channel(d.prefix() + "ask:" + instance).Message(string(text)).Build()
	if err := client.Do(ctx, publish).Error(); err != nil {
		return nil, fmt.Errorf("ask %s: %w", instance, err)
	}
	got, err := client.Do(ctx, client.B().Blpop().Key(q.Reply).Timeout(askFor.Seconds()).Build()).AsStrSlice()
	switch {
	case rueidis.IsRedisNil(err), errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%s does not answer", instance)
	case err != nil:
		return nil, fmt.Errorf("ask %s: %w", instance, err)
	case len(got) != 2: // the key, and what was in it
		return nil, fmt.Errorf("ask %s: the answer has %d parts, not 2", instance, len(got))
	}
	return readAnswer(instance, got[1])
}

// readAnswer reads what an instance answered.
func readAnswer(instance, text string) (json.RawMessage, error) {
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("read what %s answers: %w", instance, err)
	}
	if a.Status != 0 {
		return nil, &Refused{a.Status, a.Text}
	}
	return a.Body, nil
}

// Run answers until ctx ends; it blocks.
func (d *Desk) Run(ctx context.Context) {
	channel := d.prefix() + "ask:" + d.opt.Name
	for d.opt.Answer != nil && ctx.Err() == nil {
		if client, err := d.opt.Conn.Client(); err == nil {
			_ = client.Receive(ctx, client.B().Subscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) { d.take(ctx, m.Message) })
		}
		ticks.Pause(ctx, retry)
	}
}

// take has a question answered beside the others; too many are not answered,
// which whoever asks is told by the time that passes.
func (d *Desk) take(ctx context.Context, text string) {
	var q Question
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		d.opt.Log.Warn("an instance asked something that cannot be read", "error", err)
		return
	}
	select {
	case d.busy <- struct{}{}:
		go func() { // ends with the answer, after askFor at the latest
			defer func() { <-d.busy }()
			d.reply(ctx, q)
		}()
	default:
	}
}

func (d *Desk) reply(ctx context.Context, q Question) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	var a answer
	body, err := d.opt.Answer(ctx, q)
	refused, ok := errors.AsType[*Refused](err)
	switch {
	case ok:
		a.Status, a.Text = refused.Status, refused.Text
	case err != nil:
		a.Status, a.Text = 500, err.Error()
	case len(body) > answerBytes:
		a.Status, a.Text = 500, fmt.Sprintf("the answer has %d bytes, more than are sent to another instance", len(body))
	default:
		a.Body = body
	}
	text, err := json.Marshal(a)
	if err != nil {
		d.opt.Log.Error("BUG: an answer for another instance is not JSON", "what", q.What, "error", err)
		return
	}
	client, err := d.opt.Conn.Client()
	if err != nil {
		return // whoever asked sees that there is no answer
	}
	for _, r := range client.DoMulti(ctx,
		client.B().Rpush().Key(q.Reply).Element(string(text)).Build(),
		client.B().Expire().Key(q.Reply).Seconds(answerKept).Build()) {
		if err := r.Error(); err != nil {
			d.opt.Log.Warn("another instance cannot be answered", "what", q.What, "error", err)
			return
		}
	}
}
