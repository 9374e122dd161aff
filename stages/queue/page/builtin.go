package page

import (
	"embed"

	"github.com/andreimerlescu/concert/internal/language"
)

//go:embed *.html parts waiting.css *.js words
var assets embed.FS

// figures are the placeholders of the built-in pages.
func figures() map[string]figure {
	return map[string]figure{
		"{{.Position}}":   position,
		"{{.People}}":     people,
		"{{.ETASeconds}}": etaSeconds,
		"{{.Estimate}}":   estimate,
		"{{.PollMS}}":     pollMS,
		"{{.Refresh}}":    refresh,
		"{{.JoinedMS}}":   joinedMS,
		"{{.Back}}":       back,
		"{{.SkipURL}}":    skipURL,
		"{{.Room}}":       roomID,
		"{{.RoomName}}":   roomName,
	}
}

// BuiltIn prepares the built-in waiting page.
func BuiltIn(look Look) (*Set, error) { return waitingDocument.prepare(look) }

// Room prepares the waiting page of an off-site room, whose place is kept by the
// page itself. Of the values, Room, RoomName and Back are in it.
func Room(look Look) (*Set, error) {
	return document{html: "room.html", script: "room.js", offSite: true}.prepare(look)
}

// Farewell prepares the page for somebody who has left the line. No value is
// in it.
func Farewell(look Look) (*Set, error) { return document{html: "farewell.html"}.prepare(look) }

// NoCookies prepares the page for somebody whose browser keeps no cookies. Of
// the values, only Back is in it.
func NoCookies(look Look) (*Set, error) { return document{html: "cookies.html"}.prepare(look) }

// prepare makes the document's page in every language.
func (d document) prepare(look Look) (*Set, error) {
	var s Set
	for _, l := range language.All() {
		a, err := d.assemble(l, look, false)
		if err != nil {
			return nil, err
		}
		p := newPage(a.html, figures())
		p.policy, p.lang, p.phrases = a.policy, l.Code(), newPhrases(l, a.words)
		s[l] = p
	}
	return &s, nil
}
