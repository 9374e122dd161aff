package gate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/persist"
)

// Level says how grave a message is.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
)

// MaxMessages is the most messages a room may have.
const MaxMessages = 50

// Message is a notice that the waiting page shows in turn with the others.
type Message struct {
	ID string `json:"id"` // unique in its room, also after others were deleted
	// Text is what package notice takes: a text, and wordings of it for some
	// languages.
	Text      string    `json:"text"`
	Level     Level     `json:"level"`
	Enabled   bool      `json:"enabled"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// MessagePatch is a change of a message, or a new one; nil leaves a value as
// it is.
type MessagePatch struct {
	Text    *string `json:"text"`
	Level   *Level  `json:"level"`
	Enabled *bool   `json:"enabled"`
}

// Apply returns m with the change.
func (p *MessagePatch) Apply(m Message) Message {
	set(&m.Text, p.Text)
	set(&m.Level, p.Level)
	set(&m.Enabled, p.Enabled)
	return m
}

// MessageChanges lists what differs between two states of a message.
func MessageChanges(a, b Message) []persist.ActChange {
	var changes []persist.ActChange
	for _, c := range []persist.ActChange{
		{Key: "text", From: a.Text, To: b.Text},
		{Key: "level", From: string(a.Level), To: string(b.Level)},
		{Key: "enabled", From: strconv.FormatBool(a.Enabled), To: strconv.FormatBool(b.Enabled)},
	} {
		if c.From != c.To {
			changes = append(changes, c)
		}
	}
	return changes
}

// Check reports everything that is wrong with m as an *InvalidError.
func (m *Message) Check() error {
	var p problems
	n, err := notice.Parse(m.Text)
	switch {
	case err != nil:
		p = append(p, fmt.Sprintf("text %v", err))
	case n == notice.Notice{}:
		p = append(p, "text is empty: say something, or disable the message")
	}
	if m.Level != Info && m.Level != Warning {
		p = append(p, fmt.Sprintf("level %q: want info or warning", m.Level))
	}
	return p.err()
}
