package view

import (
	"strings"
	"time"
)

// Why explains in a few sentences what a visitor in line waits for, as the page
// about them does.
func Why(s Status, r QueueRow, now time.Time) string { return strings.Join(why(s, r, now), " ") }
