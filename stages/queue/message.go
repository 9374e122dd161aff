package queue

import (
	"encoding/json"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// messages are what the operator has to say, as members of the status JSON
// behind others, in every language.
type messages struct {
	any     bool
	members [language.Count][]byte
}

func newMessages(look page.Look) messages {
	var m messages
	level := "info"
	if look.Warning {
		level = "warning"
	}
	for l, text := range look.Message {
		if text == "" {
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			panic("BUG: text that is no JSON: " + err.Error()) // every string is
		}
		m.any = true
		m.members[l] = append(append([]byte(`,"message":`), quoted...), `,"message_level":"`+level+`"`...)
	}
	return m
}
