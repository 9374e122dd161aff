package memory

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/gatetest"
)

func TestContract(t *testing.T) {
	gatetest.Run(t, gatetest.Crowd, func(t *testing.T, start time.Time) gate.Store {
		s, err := New(Options{Start: start})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
