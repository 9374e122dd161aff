package redisline

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// Snapshot copies the line, a batch of tickets a call: whoever moves meanwhile
// may be missed, or be there twice.
func (l *Line) Snapshot(ctx context.Context, now time.Time) (line.Snapshot, error) {
	s := line.Snapshot{Taken: now}
	err := l.walk(ctx, now, 0, math.MaxInt, func(o line.Occupant, flags string) {
		s.Next = max(s.Next, o.Place.Ticket.Number+1)
		s.Tickets = append(s.Tickets, line.SavedTicket{
			Ticket: o.Place.Ticket, Client: o.Client, LastSeen: o.LastSeen, Polled: o.Polled,
			Promoted: o.Place.Promoted, Rank: o.Rank, Absent: strings.Contains(flags, "A"),
		})
	})
	return s, err
}

// Restore fills an empty line; it is an error if the line is not empty. What
// package memory leaves out of a snapshot is left out here, too.
func (l *Line) Restore(ctx context.Context, now time.Time, s line.Snapshot, returning bool) error {
	flags := "F"
	if returning {
		flags += "R"
	}
	for first := true; first || len(s.Tickets) > 0; first = false {
		batch := s.Tickets[:min(len(s.Tickets), restoreBatch)]
		s.Tickets = s.Tickets[len(batch):]
		args := make([]string, 2, 2+6*len(batch))
		args[0], args[1] = flags, strconv.FormatUint(s.Next, 10)
		for k := range batch {
			args = append(args, savedArgs(&batch[k], now)...)
		}
		b, err := l.reach(ctx, now, "restore", args...)
		if err != nil {
			return err
		}
		if b.verdict() == "INUSE" {
			return errInUse
		}
		flags = strings.TrimPrefix(flags, "F")
	}
	return nil
}

func savedArgs(t *line.SavedTicket, now time.Time) []string {
	flags := flagsOf(flag{'P', t.Polled}, flag{'M', t.Promoted}, flag{'A', t.Absent})
	number, issued := ticketArgs(t.Ticket)
	return []string{number, issued, clientArg(t.Client), strconv.FormatInt(int64(now.Sub(t.LastSeen)), 10), strconv.Itoa(int(t.Rank)), flags}
}
