package parts

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Ballast is the name of the file that fills a Disk.
const Ballast = "ballast"

// Disk is a disk of its own that can be filled. Use SmallDisk.
type Disk struct {
	Path string // where it is mounted
	t    testing.TB
}

// SmallDisk mounts a disk of a size, such as 1m, until the test ends. Who may not
// mount skips the test, and fails it under CI=true.
func SmallDisk(t testing.TB, size string) Disk {
	t.Helper()
	path := t.TempDir()
	err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=0700,size="+size)
	if errors.Is(err, syscall.EPERM) && os.Getenv("CI") != "true" {
		t.Skip("mounting a disk to fill takes root")
	}
	if err != nil {
		t.Fatalf("mount a disk of %s: %v", size, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return Disk{path, t}
}

// Fill uses up all space, to the last byte.
func (d Disk) Fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.Path, Ballast))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatal(err)
		}
	}
}

// Free gives the space back that Fill took.
func (d Disk) Free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.Path, Ballast)); err != nil {
		d.t.Fatal(err)
	}
}
