package persist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// tempMark stands between the name of a file and the rest of the name of what
// is being written to replace it.
const tempMark = ".tmp-"

// replace writes a file anew: all of it is on disk when it returns nil, and
// nothing has changed when it does not. The outcome is noted as the file's
// health.
//
// The file may have been replaced when only the last step fails, the syncing
// of the directory; then both the old and the new content are whole.
func (d *Dir) replace(name string, write func(io.Writer) error) error {
	if d.path == "" {
		return nil
	}
	err := d.ready()
	if err == nil {
		err = d.replaceFile(name, write)
	}
	if err != nil {
		err = fmt.Errorf("save %s: %w", d.file(name), err)
	}
	d.health.note(name, err)
	if err == nil {
		d.health.spacious()
	}
	return err
}

func (d *Dir) replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(d.path, name+tempMark+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := fill(f, write); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), d.file(name)); err != nil {
		return err
	}
	if err := syncDir(d.path); err != nil {
		return fmt.Errorf("sync the directory: %w", err)
	}
	return nil
}

// fill writes the whole content through to the disk.
func fill(f *os.File, write func(io.Writer) error) error {
	if err := f.Chmod(fileMode); err != nil { // whatever the umask
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// readFile reads a file of at most limit bytes. ok is false when there is
// none.
func (d *Dir) readFile(name string, limit int64) (data []byte, ok bool, err error) {
	if d.path == "" {
		return nil, false, nil
	}
	f, err := os.Open(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return data, true, err
}
