package history

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// flush hands the buffer to the operating system.
func (w *writer) flush(now time.Time) {
	if len(w.buf) == 0 || now.Before(w.next) {
		return
	}
	if err := w.open(); err != nil {
		w.fail(err, now)
		return
	}
	if w.size > w.max { // an earlier rotation failed
		if err := w.shift(); err != nil {
			w.fail(err, now)
			return
		}
		w.carry(now)
		w.flush(now)
		return
	}
	n, err := w.file.Write(w.buf)
	w.size += int64(n)
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	if err != nil {
		w.fail(fmt.Errorf("write the history log: %w", err), now)
		return
	}
	if w.trouble.Swap(nil) != nil {
		w.h.opt.Log.Info("history log written again", "file", w.path)
	}
}

// fail notes that nothing can be written for a while.
func (w *writer) fail(err error, now time.Time) {
	if err == nil {
		return
	}
	text := err.Error()
	if old := w.trouble.Swap(&text); old == nil || *old != text {
		w.h.opt.Log.Error("history log not written", "file", w.path, "error", err, "retry", retryAfter)
	}
	w.failures.Add(1)
	w.next = now.Add(retryAfter)
}

// open sees to it that w.file is the file of that name.
func (w *writer) open() error {
	if w.file != nil {
		here, err1 := w.file.Stat()
		there, err2 := os.Stat(w.path)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			return nil
		}
		_ = w.file.Close() // moved away or deleted by somebody: nothing to save
		w.file = nil
	}
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the history log: %w", err)
	}
	f, err := os.OpenFile(w.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the history log: %w", err)
	}
	size, err := closeLine(f)
	if err != nil {
		_ = f.Close() // nothing was written
		return err
	}
	w.file, w.size = f, size
	return nil
}

// closeLine ends a last line that a crash has torn, so that it takes no other
// with it, and returns the file's size.
func closeLine(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("look at the history log: %w", err)
	}
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return 0, fmt.Errorf("protect the history log: %w", err)
	}
	size := info.Size()
	if size == 0 {
		return 0, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the end of the history log: %w", err)
	}
	if last[0] == '\n' {
		return size, nil
	}
	n, err := f.Write([]byte("\n"))
	if err != nil {
		return 0, fmt.Errorf("close the last line of the history log: %w", err)
	}
	return size + int64(n), nil
}
