package config

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// checked is text that has to please ok.
func checked(at func(*Config) *string, want string, ok func(string) error) binding {
	return bound[string]{at, codec[string]{
		Shape:  Shape{Kind: KindText, Want: want},
		parse:  func(text string) (string, error) { return text, nil },
		format: func(v string) string { return v },
		check:  ok,
	}}
}

// checkListen accepts what net.Listen can make sense of.
func checkListen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
			return misfit("write :" + addr)
		}
		return misfit("")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return misfit("with a port number up to 65535")
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil || isHostName(host) {
		return nil
	}
	return misfit("")
}

// checkPath accepts what the operating system takes for a path.
func checkPath(path string) error {
	if strings.ContainsRune(path, 0) {
		return misfit("")
	}
	return nil
}

// isHostName reports whether s is made of what host names are made of.
func isHostName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		alnum := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !alnum && r != '-' && r != '.' && r != '_'
	}) < 0
}

// checkCookiePath and checkCookieDomain accept what net/http writes into a
// cookie; anything else it would drop, with no more than a log line.
func checkCookiePath(path string) error {
	c := http.Cookie{Name: "name", Path: path}
	if !strings.HasPrefix(path, "/") || c.Valid() != nil {
		return misfit("")
	}
	return nil
}

func checkCookieDomain(domain string) error {
	c := http.Cookie{Name: "name", Domain: domain}
	if domain != "" && c.Valid() != nil {
		return misfit("")
	}
	return nil
}

// headerName is a field name in canonical form, or nothing.
func headerName(at func(*Config) *string) binding {
	return bound[string]{at, codec[string]{
		Shape: Shape{Kind: KindText, Want: "the name of an HTTP header, or nothing"},
		parse: func(text string) (string, error) {
			return textproto.CanonicalMIMEHeaderKey(text), nil
		},
		format: func(v string) string { return v },
		check: func(v string) error {
			if v != "" && !httpguts.ValidHeaderFieldName(v) {
				return misfit("")
			}
			return nil
		},
	}}
}

// origin is the URL of the site behind Concert.
func origin(at func(*Config) **url.URL) binding {
	return bound[*url.URL]{at, codec[*url.URL]{
		Shape: Shape{Kind: KindURL, Want: "an http, https or h2c URL with a host, and without query or fragment"},
		parse: parseOrigin,
		format: func(u *url.URL) string {
			if u == nil {
				return ""
			}
			return u.String()
		},
		check: checkOrigin,
	}}
}

func parseOrigin(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Host != "" || isOriginScheme(u.Scheme)) {
		return u, nil
	}
	if text != "" && !strings.Contains(text, "/") && !strings.Contains(text, "@") {
		return nil, misfit("write http://" + text)
	}
	// The error of url.Parse repeats the text, which may hold a password.
	return nil, misfit("")
}

func isOriginScheme(s string) bool { return s == "http" || s == "https" || s == "h2c" }

func checkOrigin(u *url.URL) error {
	if u == nil || !isOriginScheme(u.Scheme) {
		return misfit("")
	}
	if u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return misfit("")
	}
	if u.User != nil {
		return misfit("leave out user and password, which would not be sent")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return misfit("use a port from 1 to 65535")
		}
	}
	return nil
}

// redactUserinfo hides the credentials of a URL. Of one that does not parse it
// hides too much rather than too little.
func redactUserinfo(text string) string {
	const hidden = "xxxxx"
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if u.User != nil {
			u.User = url.User(hidden)
		}
		return u.String()
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	_, rest, ok := strings.Cut(text[:at], "//")
	if !ok {
		rest = text[:at]
	}
	return text[:at-len(rest)] + hidden + text[at:]
}

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
