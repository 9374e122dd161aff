//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lockFile opens and locks a file. The lock belongs to the open file, so it
// passes on to a process that inherits it, and ends with the last that has it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = f.Chmod(fileMode)
	for err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
		err = nil
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, err
	}
	return f, nil
}

// open reports whether users other than the owner can enter a directory.
func open(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// syncDir makes renames in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	return errors.Join(err, f.Close())
}
