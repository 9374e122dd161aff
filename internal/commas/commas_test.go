package commas

import (
	"fmt"
	"slices"
	"testing"
)

func TestEntries(t *testing.T) {
	for list, want := range map[string]string{
		"": "[]", " , ,": "[]", "a": `["a"]`, " a b\t,\n,c,": `["a b" "c"]`,
	} {
		if got := fmt.Sprintf("%q", slices.Collect(Entries(list))); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
	for range Entries("a,b") {
		break // who has seen enough is not called again
	}
}
