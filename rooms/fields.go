package rooms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/internal/branding"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/paths"
)

// Bounds of values.
const (
	maxID       = 32
	maxInflow   = 1_000_000
	minInterval = 100 * time.Millisecond
	maxInterval = time.Hour
)

// field is a member of a room's object: how it is read into a room, and what it
// takes in words.
type field struct {
	want string
	read func(r *Room, raw json.RawMessage) error
}

// fields is the table of members.
var fields = map[string]field{
	"id":              {"1 to 32 lower-case letters, digits and hyphens", readID},
	"name":            {"a line of at most 60 characters", textField(func(r *Room) *string { return &r.Name }, branding.CheckName)},
	"hosts":           {"a list of host names, *.name for all below a name", readHosts},
	"paths":           {"a list of paths such as /checkout and /checkout/*", readPaths},
	"cap":             {"a whole number from 1 to 2147483647", intField(func(r *Room) *int { return &r.Cap }, 1, math.MaxInt32)},
	"inflow":          {"a whole number from 0 to 1000000", intField(func(r *Room) *int { return &r.Inflow }, 0, maxInflow)},
	"inflow_interval": {`a duration such as "10s", 100ms to 1h`, readInterval},
	"inflow_burst":    {"a whole number from 0 to 1000000", intField(func(r *Room) *int { return &r.Burst }, 0, maxInflow)},
	"max_queue":       {"a whole number from 0 to 2147483647", intField(func(r *Room) *int { return &r.MaxQueue }, 0, math.MaxInt32)},
	"room":            {`"open", "paused" or "closed"`, readMode},
	"message":         {"a line of text, other languages behind bars", textField(func(r *Room) *string { return &r.Message }, checkMessage)},
	"message_level":   {`"info" or "warning"`, readLevel},
	"html":            {"a page in -pages-dir", textField(func(r *Room) *string { return &r.HTML }, nil)},
}

var errKind = errors.New("this is something else")

// decode reads JSON into v.
func decode(raw json.RawMessage, v any) error {
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, v) != nil {
		return errKind
	}
	return nil
}

func readID(r *Room, raw json.RawMessage) error {
	var id string
	if err := decode(raw, &id); err != nil {
		return err
	}
	odd := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' }
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, odd) {
		return errors.New("choose another")
	}
	r.ID = id
	return nil
}

func readHosts(r *Room, raw json.RawMessage) (err error) {
	if err := decode(raw, &r.Hosts); err != nil {
		return err
	}
	if r.hosts, err = hosts.Parse(strings.Join(r.Hosts, ",")); err != nil {
		return oneLine(err)
	}
	return nil
}

func readPaths(r *Room, raw json.RawMessage) error {
	if err := decode(raw, &r.Paths); err != nil {
		return err
	}
	if len(r.Paths) == 0 {
		return nil
	}
	// Strict: whoever spells a path otherwise must not get around the line.
	t, err := paths.Build(paths.List[bool]{Name: "paths", Entries: strings.Join(r.Paths, ","), Value: true, Strict: true})
	if err != nil {
		return oneLine(err)
	}
	r.paths = t
	return nil
}

func readInterval(r *Room, raw json.RawMessage) error {
	var text string
	if err := decode(raw, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < minInterval || d > maxInterval {
		return errors.New("choose another")
	}
	r.Interval = d
	return nil
}

func readMode(r *Room, raw json.RawMessage) error {
	var text string
	if err := decode(raw, &text); err != nil {
		return err
	}
	m, known := line.ParseMode(text)
	if !known {
		return errors.New("choose one of them")
	}
	r.Mode = m
	return nil
}

func readLevel(r *Room, raw json.RawMessage) error {
	var text string
	if err := decode(raw, &text); err != nil {
		return err
	}
	if text != "info" && text != "warning" {
		return errors.New("choose one of them")
	}
	r.Warning = text == "warning"
	return nil
}

func checkMessage(text string) error {
	_, err := notice.Parse(text)
	return err
}

// textField reads a string that passes a check.
func textField(at func(*Room) *string, check func(string) error) func(*Room, json.RawMessage) error {
	return func(r *Room, raw json.RawMessage) error {
		var text string
		if err := decode(raw, &text); err != nil {
			return err
		}
		if check != nil {
			if err := check(text); err != nil {
				return fmt.Errorf("it %w", err)
			}
		}
		*at(r) = text
		return nil
	}
}

// intField reads a whole number within bounds.
func intField(at func(*Room) *int, least, most int) func(*Room, json.RawMessage) error {
	return func(r *Room, raw json.RawMessage) error {
		var n int
		if err := decode(raw, &n); err != nil {
			return err
		}
		if n < least || n > most {
			return errors.New("it is out of bounds")
		}
		*at(r) = n
		return nil
	}
}

// oneLine keeps joined errors on one line.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }
