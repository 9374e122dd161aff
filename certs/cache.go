package certs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/acme/autocert"
)

// CheckCache reports why dir cannot be the cache directory, in a line that says
// what to do. It changes nothing: a directory that does not exist yet is good
// when it can be made.
func CheckCache(dir string) error {
	if dir == "" {
		return errors.New("it is needed with -tls-domains: keys and certificates that are not kept are asked for at every start, until the authority refuses")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("a folder on the way to it is closed to %s; make it with the right owner, or choose another", whoami())
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("it is not a directory; choose another")
	}
	return checkDirectory(dir)
}

// checkParent reports why a directory cannot be made.
func checkParent(dir string) error {
	parent := dir
	for {
		parent = filepath.Dir(parent)
		info, err := os.Stat(parent)
		if errors.Is(err, fs.ErrNotExist) && parent != filepath.Dir(parent) {
			continue
		}
		if err == nil && !info.IsDir() {
			return fmt.Errorf("it cannot be made, since %s is not a directory; choose another", parent)
		}
		if err != nil || !writable(parent) {
			return fmt.Errorf("it does not exist, and %s must not make it in %s; make it for that user (with systemd: StateDirectory=concert), or choose another", whoami(), parent)
		}
		return nil
	}
}

// checkDirectory reports what of a directory cannot be used.
func checkDirectory(dir string) error {
	if !writable(dir) {
		return fmt.Errorf("%s must not write to it; chown it to that user, or choose another", whoami())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s must not list it; chown it to that user, or choose another", whoami())
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || passing(e.Name()) {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s in it must not be read by %s; chown all of the directory to that user", e.Name(), whoami())
		}
		_ = f.Close() // it was only tried
	}
	return nil
}

// passing reports whether a file of the cache is of a challenge, which comes
// and goes.
func passing(key string) bool {
	return strings.HasSuffix(key, "+token") || strings.HasSuffix(key, "+http-01")
}

// writable reports whether a file can be made in dir.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".concert-can-write-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// openTo reports whether others than the owner can enter the directory.
func openTo(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// cache is the directory of an authority. What cannot be written is kept in
// memory: autocert would throw a new certificate away and ask for another.
type cache struct {
	dir  autocert.DirCache
	log  *slog.Logger
	kept func(key string, data []byte) // called with every certificate

	mu      sync.Mutex // guards the fields below
	unsaved map[string][]byte
	fault   error // of the last write
}

var _ autocert.Cache = (*cache)(nil)

// Get implements autocert.Cache.
func (c *cache) Get(ctx context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	data := c.unsaved[key]
	c.mu.Unlock()
	if data != nil {
		return data, nil
	}
	return c.dir.Get(ctx, key)
}

// Put implements autocert.Cache. It has no error.
func (c *cache) Put(ctx context.Context, key string, data []byte) error {
	c.save(ctx, key, data)
	if !passing(key) {
		c.kept(key, data)
	}
	return nil
}

func (c *cache) save(ctx context.Context, key string, data []byte) {
	err := c.dir.Put(ctx, key, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unsaved, key)
	if err != nil {
		c.unsaved[key] = data
		c.log.Error("a certificate or key is kept in memory only, and tried to write again",
			"directory", string(c.dir), "file", key, "error", err)
	}
	c.fault = err
}

// Delete implements autocert.Cache.
func (c *cache) Delete(ctx context.Context, key string) error {
	c.mu.Lock()
	delete(c.unsaved, key)
	c.mu.Unlock()
	return c.dir.Delete(ctx, key)
}

// retry writes what could not be written.
func (c *cache) retry(ctx context.Context) {
	c.mu.Lock()
	waiting := make(map[string][]byte, len(c.unsaved))
	for key, data := range c.unsaved {
		waiting[key] = data
	}
	c.mu.Unlock()
	for key, data := range waiting {
		c.save(ctx, key, data)
	}
}

// problem is why something is in memory only; nil when nothing is.
func (c *cache) problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unsaved) == 0 {
		return nil
	}
	return c.fault
}
