package app

import (
	"os"
	"strings"
	"testing"
)

// TestPictureIsThatOfTheStages: docs/architecture.md draws them in their order.
func TestPictureIsThatOfTheStages(t *testing.T) {
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range newApp(t).order {
		names = append(names, s.Name())
	}
	if want := "│ " + strings.Join(names, " ▶ ") + " ▶ origin │"; !strings.Contains(string(text), want) {
		t.Errorf("docs/architecture.md has no picture with %s", want)
	}
}
