package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// Load takes in everything that is kept, so that an instance that starts knows
// what the others do. The error says why that was not possible; Run tries again.
func (l *Log) Load(ctx context.Context) error {
	client, err := l.opt.Conn.Client()
	if err != nil {
		return err
	}
	id, mine, err := l.identify(ctx, client)
	if err != nil {
		return err
	}
	// Where the stream stands goes first: what comes meanwhile is read twice.
	last, err := l.newest(ctx, client)
	if err != nil {
		return err
	}
	if err := l.takeState(ctx, client); err != nil {
		return err
	}
	lost := mine || l.id != "" && id != l.id
	l.id, l.last, l.loaded = id, last, true
	if lost { // what others know may be nowhere else
		l.opt.All(l.Tell)
	}
	return nil
}

// newest is the id of the latest message in the stream.
func (l *Log) newest(ctx context.Context, client rueidis.Client) (id string, err error) {
	newest, err := client.Do(ctx, client.B().Xrevrange().Key(l.keys.stream).End("+").Start("-").Count(1).Build()).AsXRange()
	if err != nil && !rueidis.IsRedisNil(err) {
		return "", fmt.Errorf("load what instances know: %w", err)
	}
	if len(newest) == 0 {
		return "0-0", nil
	}
	return newest[0].ID, nil
}

// takeState takes in all that is kept.
func (l *Log) takeState(ctx context.Context, client rueidis.Client) error {
	for cursor := uint64(0); ; {
		page, err := client.Do(ctx, client.B().Hscan().Key(l.keys.state).Cursor(cursor).Count(500).Build()).AsScanEntry()
		if err != nil {
			return fmt.Errorf("load what instances know: %w", err)
		}
		for k := 1; k < len(page.Elements); k += 2 {
			l.take(page.Elements[k])
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}

// identify finds the id of the state. One that is new, as after a loss of
// everything, is made; mine says that it was made here.
func (l *Log) identify(ctx context.Context, client rueidis.Client) (id string, mine bool, err error) {
	made := l.me + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	err = client.Do(ctx, client.B().Set().Key(l.keys.id).Value(made).Nx().Build()).Error()
	if err != nil && !rueidis.IsRedisNil(err) {
		return "", false, fmt.Errorf("load what instances know: %w", err)
	}
	if id, err = client.Do(ctx, client.B().Get().Key(l.keys.id).Build()).ToString(); err != nil {
		return "", false, fmt.Errorf("load what instances know: %w", err)
	}
	return id, id == made, nil
}

// read takes in what others tell, until ctx ends. After a failure everything is
// loaded anew, as messages may have been missed.
func (l *Log) read(ctx context.Context) {
	for ctx.Err() == nil {
		var err error
		if l.loaded {
			err = l.readSome(ctx)
		} else {
			limit, cancel := context.WithTimeout(ctx, deadline)
			err = l.Load(limit)
			cancel()
		}
		if err != nil {
			l.loaded = false
			ticks.Pause(ctx, retry)
		}
	}
}

var errLost = errors.New("what instances know is lost, or was")

// readSome waits for the next messages, and looks whether they are still of the
// state that was read.
func (l *Log) readSome(ctx context.Context) error {
	client, err := l.opt.Conn.Client()
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, block+deadline)
	defer cancel()
	got, err := client.Do(limit, client.B().Xread().Count(1000).Block(block.Milliseconds()).
		Streams().Key(l.keys.stream).Id(l.last).Build()).AsXRead()
	if err != nil && !rueidis.IsRedisNil(err) {
		return fmt.Errorf("read what instances tell: %w", err)
	}
	for _, e := range got[l.keys.stream] {
		l.last = e.ID
		l.take(e.FieldValues["m"])
	}
	if len(got) > 0 {
		return nil
	}
	id, err := client.Do(limit, client.B().Get().Key(l.keys.id).Build()).ToString()
	switch {
	case err != nil && !rueidis.IsRedisNil(err):
		return fmt.Errorf("read what instances tell: %w", err)
	case id != l.id:
		return errLost
	}
	return nil
}
