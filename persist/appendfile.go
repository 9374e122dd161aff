package persist

import (
	"errors"
	"fmt"
	"os"
)

// appendFile is a file that grows at the end. It is not safe for concurrent
// use.
type appendFile struct {
	dir  *Dir
	name string
	make bool // it may begin empty, so append makes it

	f    *os.File // nil while it is closed
	size int64    // bytes that are known to be good
	// unsure is set when a sync failed: then nobody knows what of the file is
	// on disk, and syncing again would not tell (the system reports a lost
	// page once). Only writing all of it anew helps.
	unsure bool
}

// open opens the file.
func (a *appendFile) open() error {
	if err := a.dir.ready(); err != nil {
		return err
	}
	flags := os.O_RDWR
	if a.make {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(a.dir.file(a.name), flags, fileMode)
	if err != nil {
		return err
	}
	end, err := f.Seek(0, 2)
	if err == nil && end == 0 {
		err = f.Chmod(fileMode) // whatever the umask
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.f, a.size = f, end
	return nil
}

// lost reports whether the open file is no longer the one of that name:
// somebody removed or replaced it, and what is written to it is gone.
func (a *appendFile) lost() bool {
	if a.f == nil {
		return false
	}
	ours, err := a.f.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(a.dir.file(a.name))
	return err != nil || !os.SameFile(ours, now)
}

// append adds data and syncs. On an error the file is as it was before, or
// unsure.
func (a *appendFile) append(data []byte) error {
	if a.dir.path == "" {
		return nil
	}
	err := a.tryAppend(data)
	if err != nil {
		err = fmt.Errorf("append to %s: %w", a.dir.file(a.name), err)
	}
	return err
}

func (a *appendFile) tryAppend(data []byte) error {
	if err := a.dir.ready(); err != nil {
		return err
	}
	if a.f == nil {
		if err := a.open(); err != nil {
			return err
		}
	}
	// At the known end rather than at whatever end there is: a write that
	// failed half way may have left a part of itself.
	if _, err := a.f.WriteAt(data, a.size); err != nil {
		return errors.Join(err, a.f.Truncate(a.size))
	}
	if err := a.f.Sync(); err != nil {
		a.unsure = true
		return err
	}
	a.size += int64(len(data))
	return nil
}

// close closes the file; the next append opens it again.
func (a *appendFile) close() error {
	if a.f == nil {
		return nil
	}
	err := a.f.Close()
	a.f, a.size, a.unsure = nil, 0, false
	return err
}
