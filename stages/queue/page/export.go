package page

import (
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
)

// Export returns the built-in page in one language as a custom page to start
// from. It keeps the two placeholders of custom pages; what else the built-in
// page is told when it is rendered, it learns from its first poll.
func Export(l language.Language, look Look) ([]byte, error) {
	a, err := waitingDocument.assemble(l, look, true)
	if err != nil {
		return nil, err
	}
	html := strings.NewReplacer(
		"{{.People}}", "", "{{.ETASeconds}}", "-1", "{{.Estimate}}", a.words["eta.unknown"],
		"{{.PollMS}}", "", "{{.Refresh}}", "10", "{{.JoinedMS}}", "").Replace(a.html)
	return append([]byte(html), '\n'), nil
}
