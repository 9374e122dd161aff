package memory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
)

func TestContract(t *testing.T) {
	linetest.Run(t, func(_ *testing.T, s line.Settings, start time.Time) line.Line {
		return New(Options{Settings: s, Start: start, Jitter: rand.NewPCG(1, 2)})
	})
}
