package listener

import (
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestWritingWaitsForProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := dial(t, New(Config{}), "203.0.113.9")
		go func() { // ends with the pipe
			buf := make([]byte, 512)
			for {
				if _, err := io.ReadFull(client, buf); err != nil {
					return
				}
				time.Sleep(25 * time.Second)
			}
		}()
		_ = server.SetWriteDeadline(time.Now().Add(time.Minute))
		if n, err := server.Write(make([]byte, 10<<10)); n != 10<<10 || err != nil {
			t.Errorf("a slow reader was sent %d bytes, %v", n, err)
		}
		_ = server.Close()
		time.Sleep(time.Minute) // until the client has noticed
	})
}

func TestWritingIsGivenUp(t *testing.T) {
	given := func(name string, until func(c *guardedConn), want time.Duration) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, server := dial(t, New(Config{}), "203.0.113.9")
				began := time.Now()
				until(server)
				n, err := server.Write(make([]byte, 10<<10))
				if took := time.Since(began); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || took != want {
					t.Errorf("%d bytes, %v after %v; want none after %v", n, err, took, want)
				}
			})
		})
	}
	given("nobody reads", func(c *guardedConn) { _ = c.SetWriteDeadline(time.Now().Add(time.Minute)) }, time.Minute)
	given("nobody reads, one deadline for all", func(c *guardedConn) { _ = c.SetDeadline(time.Now().Add(time.Minute)) }, time.Minute)
	given("the time is over", func(c *guardedConn) { _ = c.SetWriteDeadline(time.Now().Add(-time.Second)) }, 0)
	given("somebody else ends it", func(c *guardedConn) {
		_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
		time.AfterFunc(40*time.Second, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
	}, 40*time.Second)
}
