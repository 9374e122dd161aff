package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/redis/rueidis"
)

// numbers reads a list of whole numbers, which the script alone writes.
func numbers(texts []string) ([]int64, error) {
	out := make([]int64, len(texts))
	for i, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("redis: read %q: %w", text, err)
		}
		out[i] = n
	}
	return out, nil
}

// status reads the script's answer to a visitor.
func (s *Store) status(out []string, err error) (gate.Status, error) {
	if err != nil {
		return gate.Status{}, err
	}
	r, err := parseRecord(out[0])
	if err != nil {
		return gate.Status{}, err
	}
	v, err := numbers(out[1:])
	if err != nil {
		return gate.Status{}, err
	}
	st := gate.Status{
		Ticket: gate.Ticket{Epoch: v[0], Number: uint64(v[1]), Run: run, Turn: uint32(v[2])},
		Room:   r.Room, State: r.state(), Admitted: v[3] == 1, PollAfter: time.Second,
	}
	switch late := v[8] == 1; {
	case st.Admitted:
	case late: // the next free place on the site
		st.Position, st.ETA, st.PollAfter = 1, -1, gate.MaxPoll/2
	default:
		st.Wait(uint64(v[4]), func(n uint64) time.Duration {
			need := n - min(n, uint64(v[5]))
			return time.Duration((float64(need)*float64(v[7]) - float64(v[6])) / float64(r.Room.Inflow) * float64(time.Microsecond))
		})
	}
	return st, nil
}

func ticketArgs(t gate.Ticket) []string {
	return []string{strconv.FormatInt(t.Epoch, 10), strconv.FormatUint(t.Number, 10), strconv.FormatUint(uint64(t.Turn), 10)}
}

// Join implements gate.Store.
func (s *Store) Join(ctx context.Context, now time.Time, id string) (gate.Status, error) {
	return s.status(s.call(ctx, now, "join", id, strconv.Itoa(maxWaiting)))
}

// Poll implements gate.Store.
func (s *Store) Poll(ctx context.Context, now time.Time, id string, t gate.Ticket) (gate.Status, error) {
	return s.status(s.ticket(ctx, now, "poll", id, t))
}

// Resume implements gate.Store.
func (s *Store) Resume(ctx context.Context, now time.Time, id string, t gate.Ticket) (gate.Status, error) {
	return s.status(s.ticket(ctx, now, "resume", id, t))
}

// ticket calls the script about a ticket.
func (s *Store) ticket(ctx context.Context, now time.Time, op, id string, t gate.Ticket) ([]string, error) {
	if t.Run != run {
		if _, err := s.decided(ctx, now, id); err != nil {
			return nil, err
		}
		return nil, gate.ErrGone // of a store that kept its rooms elsewhere
	}
	return s.call(ctx, now, op, id, ticketArgs(t)...)
}

// Exchange implements gate.Store.
func (s *Store) Exchange(ctx context.Context, now time.Time, id string, t gate.Ticket) (gate.Grant, error) {
	out, err := s.ticket(ctx, now, "exchange", id, t)
	if err != nil {
		return gate.Grant{}, err
	}
	r, err := parseRecord(out[0])
	if err != nil {
		return gate.Grant{}, err
	}
	v, err := numbers(out[1:])
	if err != nil {
		return gate.Grant{}, err
	}
	at := time.Unix(v[0], 0).UTC()
	return gate.Grant{Ticket: t, Room: r.Room, At: at, Until: at.Add(r.Room.AccessTTL())}, nil
}

// Spend implements gate.Store.
func (s *Store) Spend(ctx context.Context, now time.Time, id string, until time.Time) (bool, error) {
	client, err := s.connect()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.conn.CallTimeout)
	defer cancel()
	ttl := max(time.Second, until.Sub(now))
	reply := client.Do(ctx, client.B().Set().Key(s.prefix+"spent:"+id).Value("1").Nx().Px(ttl).Build())
	err = reply.Error()
	if rueidis.IsRedisNil(err) {
		return false, nil // it was there
	}
	if err != nil {
		return false, fmt.Errorf("%w: redis: spend: %w", gate.ErrUnavailable, err)
	}
	return true, nil
}
