package redisline

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

func TestContract(t *testing.T) {
	conn := connect(t, redistest.Start(t))
	var rooms atomic.Int64
	linetest.Run(t, func(t *testing.T, s line.Settings, start time.Time) line.Line {
		l := New(Options{
			Conn: conn, Room: fmt.Sprint("r", rooms.Add(1)), Instance: "a", Settings: s, Given: true,
		})
		if err := l.Join(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		return l
	})
}
