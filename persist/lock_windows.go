package persist

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lockFile opens a file so that nobody else can open it for writing; the
// system ends that with the process.
func lockFile(path string) (*os.File, error) {
	const sharingViolation = syscall.Errno(32)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// open reports whether users other than the owner can enter a directory, which
// the mode does not tell here.
func open(fs.FileInfo) bool { return false }

// syncDir does nothing: the file system's own journal keeps renames in order.
func syncDir(string) error { return nil }
