package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Probe says what Open would say of the directory, for somebody who only wants
// to know: it takes no lock, and leaves everything as it was. What it tries out
// is the right of the user who runs it. With the path "" it is content.
func Probe(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	for parent := path; errors.Is(err, fs.ErrNotExist) && parent != filepath.Dir(parent); {
		parent = filepath.Dir(parent)
		if info, err = os.Stat(parent); err == nil {
			path = parent // in which it would be made
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("data directory: %s is not a directory: choose another with -data-dir", path)
	}
	f, err := os.CreateTemp(path, ".concert-probe-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("data directory: %w: choose another with -data-dir, or keep everything in memory with -data-dir \"\"", err)
	}
	return nil
}
