package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxFileBytes bounds a file that is read into memory and sent to a crowd.
const maxFileBytes = 4 << 20

// File is a small file whose content is part of the configuration.
type File struct {
	Path    string // "" for none
	Content []byte // read by Load
}

// path is a File of which only the path is known so far; see File.read.
func file(at func(*Config) *File) binding {
	return bound[File]{at, codec[File]{
		Shape:  Shape{Kind: KindFile, Want: "a readable file of at most 4 MiB, or nothing"},
		parse:  func(text string) (File, error) { return File{Path: text}, nil },
		format: func(f File) string { return f.Path },
		check: func(f File) error {
			if len(f.Content) > maxFileBytes {
				return misfit("")
			}
			return nil
		},
	}}
}

// read fills in the content. A path that was set while Concert runs (guarded)
// must name a page inside dir: else whoever may change settings could publish
// any file that the process can read, its own secrets among them.
func (f *File) read(guarded bool, dir string) error {
	if f.Path == "" {
		return nil
	}
	if !guarded {
		file, err := os.Open(f.Path)
		if err != nil {
			return err
		}
		defer file.Close()
		return f.fill(file)
	}
	file, err := openPage(f.Path, dir)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := f.fill(file); err != nil {
		return err
	}
	if text := bytes.TrimLeft(bytes.TrimPrefix(f.Content, []byte("\ufeff")), " \t\r\n"); !bytes.HasPrefix(text, []byte("<")) {
		return misfit("it must start with <, as HTML does")
	}
	return nil
}

// openPage opens an HTML file inside dir; no link leads out of there.
func openPage(path, dir string) (*os.File, error) {
	if dir == "" {
		return nil, misfit("pages of rooms, and pages chosen while Concert runs, lie in the directory of -pages-dir, and Concert was started without one")
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".html" && ext != ".htm" {
		return nil, misfit("its name must end in .html; others can be set by -html only")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open -pages-dir: %w", err)
	}
	defer root.Close()
	name := path
	if filepath.IsAbs(path) {
		if name, err = filepath.Rel(dir, path); err != nil {
			return nil, misfit("it must lie in -pages-dir, " + dir)
		}
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, misfit("it must be a file in -pages-dir, " + dir)
	}
	return file, nil
}

// fill reads an open file.
func (f *File) fill(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return misfit("it is not a regular file")
	}
	if info.Size() > maxFileBytes {
		return misfit("it is larger than that")
	}
	f.Content, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	return err
}
