package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// list is a room's messages, as they stand there.
type list struct {
	Next     int            `json:"next"`
	Messages []gate.Message `json:"messages"`
}

func parseList(text string) (l list, err error) {
	if text == "" {
		return l, nil
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("redis: read messages: %w", err)
	}
	return l, nil
}

// Messages implements gate.Store.
func (s *Store) Messages(ctx context.Context, id string) ([]gate.Message, error) {
	out, err := s.decided(ctx, time.Now(), id)
	if err != nil {
		return nil, err
	}
	l, err := parseList(out[1])
	return l.Messages, err
}

// edit is change for messages.
func (s *Store) edit(ctx context.Context, now time.Time, id string, decide func(l *list) (persist.Act, error)) error {
	return settle(func() error {
		out, err := s.decided(ctx, now, id)
		if err != nil {
			return err
		}
		l, err := parseList(out[1])
		if err != nil {
			return err
		}
		note, err := decide(&l)
		if err != nil {
			return err
		}
		text, noText := encode(l)
		noted, noNote := encode(note)
		if err := errors.Join(noText, noNote); err != nil {
			return err
		}
		_, err = s.call(ctx, now, "messages", id, out[1], text, noted)
		return err
	})
}

// AddMessage implements gate.Store.
func (s *Store) AddMessage(ctx context.Context, now time.Time, by persist.By, id string, m gate.Message) (gate.Message, error) {
	err := s.edit(ctx, now, id, func(l *list) (persist.Act, error) {
		if err := m.Check(); err != nil {
			return persist.Act{}, err
		}
		if len(l.Messages) >= gate.MaxMessages {
			return persist.Act{}, gate.ErrFull
		}
		l.Next++
		m.ID, m.CreatedAt, m.UpdatedAt = strconv.Itoa(l.Next), now.UTC(), now.UTC()
		l.Messages = append(l.Messages, m)
		return act(now, by, "add message", m.ID, persist.ActChange{Key: "text", To: m.Text}), nil
	})
	return m, err
}

// UpdateMessage implements gate.Store.
func (s *Store) UpdateMessage(ctx context.Context, now time.Time, by persist.By, id, message string, p gate.MessagePatch) (m gate.Message, err error) {
	err = s.edit(ctx, now, id, func(l *list) (persist.Act, error) {
		i := slices.IndexFunc(l.Messages, func(m gate.Message) bool { return m.ID == message })
		if i < 0 {
			return persist.Act{}, gate.ErrNoMessage
		}
		before := l.Messages[i]
		if m = p.Apply(before); m.Check() != nil {
			return persist.Act{}, m.Check()
		}
		m.UpdatedAt = now.UTC()
		l.Messages[i] = m
		return act(now, by, "change message", message, gate.MessageChanges(before, m)...), nil
	})
	return m, err
}

// DeleteMessage implements gate.Store.
func (s *Store) DeleteMessage(ctx context.Context, now time.Time, by persist.By, id, message string) error {
	return s.edit(ctx, now, id, func(l *list) (persist.Act, error) {
		i := slices.IndexFunc(l.Messages, func(m gate.Message) bool { return m.ID == message })
		if i < 0 {
			return persist.Act{}, gate.ErrNoMessage
		}
		text := l.Messages[i].Text
		l.Messages = slices.Delete(l.Messages, i, i+1)
		return act(now, by, "delete message", message, persist.ActChange{Key: "text", From: text}), nil
	})
}
