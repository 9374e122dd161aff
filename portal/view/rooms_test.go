package view

import (
	"strings"
	"testing"
	"time"
)

// TestMinutes draws a bar for each minute, the highest as high as the drawing.
func TestMinutes(t *testing.T) {
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	var all []RoomMinute
	for i, n := range []uint64{0, 4, 2, 0, 0, 1, 0} {
		all = append(all, RoomMinute{at.Add(time.Duration(i) * time.Minute), n})
	}
	c := minutes(all)
	if c.Summary != "7 passed in the last 7 minutes, at most 4 in one." || len(c.Bars) != 7 || !c.From.Equal(at) {
		t.Fatalf("%+v", c)
	}
	if b := c.Bars[1]; b.Height != "100.0" || b.Y != "0.0" || b.Title != "10:01: 4" {
		t.Errorf("the highest: %+v", b)
	}
	if b := c.Bars[2]; b.Height != "50.0" || b.Y != "50.0" {
		t.Errorf("half of it: %+v", b)
	}
	rows := hour(all)
	if len(rows) != 2 || rows[0].Passed != 3 || rows[1].Passed != 4 || !rows[1].Minute.Equal(at) {
		t.Errorf("as a table: %+v", rows)
	}
	if c := minutes(nil); len(c.Bars) != 0 || !strings.Contains(c.Summary, "Nobody") {
		t.Errorf("nothing: %+v", c)
	}
	if c := minutes(all[:1]); len(c.Bars) != 0 {
		t.Errorf("nobody: %+v", c)
	}
}
