package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// older is the name of the n-th older file; 0 is the one that is written.
func (w *writer) older(n int) string {
	if n == 0 {
		return w.path
	}
	return w.path + "." + strconv.Itoa(n)
}

// rotate begins a new file with the lines in the buffer from byte keep on,
// which would not fit the present one any more. When it fails, they wait.
func (w *writer) rotate(keep int) {
	if w.h.leaving.Load() {
		return // the file is another process's to rotate
	}
	now := time.Now()
	rest := append([]byte(nil), w.buf[keep:]...)
	w.buf = w.buf[:keep]
	if w.flush(now); len(w.buf) > 0 || now.Before(w.next) {
		w.buf = append(w.buf, rest...)
		return
	}
	if err := w.shift(); err != nil {
		w.buf = append(w.buf, rest...)
		w.fail(err, now)
		return
	}
	w.rotations.Add(1)
	w.carry(now)
	w.buf = append(w.buf, rest...)
}

// shift renames every file to the next older one; the oldest is replaced.
func (w *writer) shift() error {
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			return fmt.Errorf("close the history log: %w", err)
		}
		w.file = nil
	}
	for n := olderFiles; n > 0; n-- {
		if err := os.Rename(w.older(n-1), w.older(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rotate the history log: %w", err)
		}
	}
	w.size = 0
	copy(w.masked[1:], w.masked[:])
	w.masked[0] = false
	return nil
}

// carry writes the state of every ban, with the requests that the files had
// before, at the head of a new file: so the oldest file can go.
func (w *writer) carry(now time.Time) {
	h := w.h
	h.mu.Lock()
	all := make([][]event, 0, len(h.bans.all))
	for _, ban := range h.bans.all {
		if ban.announced {
			events := banEvents(ban, now)
			events[0].Requests = ban.logged
			all = append(all, events)
		}
	}
	h.mu.Unlock()
	for _, events := range all {
		for i := range events {
			w.buf = appendEvent(w.buf, &events[i])
			w.lines.Add(1)
		}
	}
}
