package redisline

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const (
	listBatch    = 500 // tickets that one call lists
	restoreBatch = 200
)

var errInUse = errors.New("redis line: restore into a line that is in use")

// reach is call for operators: while Redis is away, it fails.
func (l *Line) reach(ctx context.Context, now time.Time, op string, args ...string) (body, error) {
	if l.isDown() {
		return nil, fmt.Errorf("redis line: %s: %w", op, errDown)
	}
	return l.call(ctx, now, request{op: op, args: args})
}

// occupantFields are those of a place, and client, rank and flags.
const occupantFields = placeFields + 3

// readOccupant reads what F.addOccupant of the script wrote.
func (l *Line) readOccupant(b body, now time.Time) (o line.Occupant, flags string) {
	l.mu.Lock()
	o.Place = l.readPlace(b)
	l.mu.Unlock()
	o.Client, _ = netip.ParsePrefix(b[8]) // "" is none
	o.Rank = uint8(b.num(9))
	o.LastSeen = now.Add(-o.Place.SinceSeen)
	o.Polled = strings.Contains(b[10], "P")
	return o, b[10]
}

// Look is Poll for an operator: it changes nothing.
func (l *Line) Look(ctx context.Context, now time.Time, t line.Ticket) (line.Status, error) {
	b, err := l.reach(ctx, now, "look", strconv.FormatUint(t.Number, 10))
	if err != nil {
		return line.Status{}, err
	}
	if b.verdict() != "KNOWN" {
		return line.Status{Ended: line.Ended(b.num(1))}, nil
	}
	o, flags := l.readOccupant(b[1:], now)
	return line.Status{Known: true, Ready: strings.Contains(flags, "R"), Place: o.Place}, nil
}

// Quit removes a ticket whose owner leaves the line on purpose.
func (l *Line) Quit(ctx context.Context, now time.Time, t line.Ticket) error {
	_, err := l.reach(ctx, now, "quit", strconv.FormatUint(t.Number, 10))
	return err
}

// Promote moves a ticket to a position.
func (l *Line) Promote(ctx context.Context, now time.Time, t line.Ticket, position int) error {
	b, err := l.reach(ctx, now, "promote", strconv.FormatUint(t.Number, 10), strconv.Itoa(position))
	switch {
	case err != nil:
		return err
	case b.verdict() == "UNKNOWN":
		return fmt.Errorf("promote ticket %d: %w", t.Number, line.ErrUnknownTicket)
	case b.verdict() == "POSITION":
		return fmt.Errorf("promote ticket %d to position %d of %d: %w", t.Number, position, b.num(1), line.ErrNoPosition)
	}
	return nil
}

// Remove takes a ticket out of the line.
func (l *Line) Remove(ctx context.Context, now time.Time, t line.Ticket) error {
	b, err := l.reach(ctx, now, "remove", strconv.FormatUint(t.Number, 10))
	if err == nil && b.verdict() == "UNKNOWN" {
		err = fmt.Errorf("remove ticket %d: %w", t.Number, line.ErrUnknownTicket)
	}
	return err
}

// RemoveClients takes out every ticket of the clients inside p, except of those
// inside one of spare. It walks over all tickets, a batch a call, unless p is a
// single client without any.
func (l *Line) RemoveClients(ctx context.Context, now time.Time, p netip.Prefix, spare ...netip.Prefix) (int, error) {
	if !p.IsValid() {
		return 0, nil
	}
	if p.IsSingleIP() || p.Addr().Is6() && p.Bits() == 64 {
		b, err := l.reach(ctx, now, "held", p.String())
		if err != nil || b.num(0) == 0 && p.Bits() != 64 {
			return 0, err
		}
	}
	removed := 0
	for cursor := "0"; ; {
		if err := ctx.Err(); err != nil {
			return removed, fmt.Errorf("remove clients in %v: %w", p, err)
		}
		b, err := l.reach(ctx, now, "clients", cursor)
		if err != nil {
			return removed, fmt.Errorf("remove clients in %v: %w", p, err)
		}
		if hit := within(b[1:], p, spare); len(hit) > 0 {
			gone, err := l.reach(ctx, now, "purge", hit...)
			if err != nil {
				return removed, fmt.Errorf("remove clients in %v: %w", p, err)
			}
			removed += int(gone.num(0))
		}
		if cursor = b[0]; cursor == "0" {
			return removed, nil
		}
	}
}

// within picks the tickets, of pairs of a number and a client, whose clients
// lie in p and in none of spare.
func within(pairs body, p netip.Prefix, spare []netip.Prefix) (numbers []string) {
	for k := 0; k+1 < len(pairs); k += 2 {
		c, err := netip.ParsePrefix(pairs[k+1])
		in := func(q netip.Prefix) bool { return q.Bits() <= c.Bits() && q.Contains(c.Addr()) }
		if err == nil && in(p) && !slices.ContainsFunc(spare, in) {
			numbers = append(numbers, pairs[k])
		}
	}
	return numbers
}

// List returns count tickets from position first+1 on, in line order.
func (l *Line) List(ctx context.Context, now time.Time, first, count int) ([]line.Occupant, error) {
	var all []line.Occupant
	err := l.walk(ctx, now, first, count, func(o line.Occupant, _ string) { all = append(all, o) })
	return all, err
}

// walk visits count tickets from position first+1 on, a batch a call.
func (l *Line) walk(ctx context.Context, now time.Time, first, count int, visit func(line.Occupant, string)) error {
	first = max(first, 0)
	for count > 0 {
		want := min(count, listBatch)
		b, err := l.reach(ctx, now, "list", strconv.Itoa(first), strconv.Itoa(want))
		if err != nil {
			return err
		}
		for ; len(b) >= occupantFields; b = b[occupantFields:] {
			visit(l.readOccupant(b[:occupantFields], now))
			first, count, want = first+1, count-1, want-1
		}
		if want > 0 {
			return nil // the end of the line
		}
	}
	return nil
}
