package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	ctlTimeout = 30 * time.Second
	maxAnswer  = 64 << 20 // bytes
)

// errUnreached is that no portal answered.
type errUnreached struct{ error }

// Unwrap returns the cause.
func (e errUnreached) Unwrap() error { return e.error }

// call asks the portal. A body is sent as JSON, and the answer is read into a
// value; with -json it is printed instead, and done is true.
func (c *ctl) call(method, path string, body, into any) (done bool, err error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return false, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.ctx, method, c.url+path, sent)
	if err != nil {
		return false, usagef("-url %s: %w", c.url, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	client := &http.Client{Timeout: ctlTimeout}
	resp, err := client.Do(req)
	if err != nil {
		return false, c.unreached(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return false, c.unreached(err)
	}
	if resp.StatusCode != http.StatusOK {
		return false, c.refused(resp, text)
	}
	if c.rawJSON {
		_, err := c.out.Write(text)
		return true, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("%s answered with something else than the portal's API: is -url that of the portal, and not of the site?", c.url)
	}
	return false, nil
}

// unreached says what to look at when nothing answered.
func (c *ctl) unreached(err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("nothing listens on %s: Concert has a portal only with CONCERT_PORTAL_PASS set, at -portal-listen", c.url)
	case errors.As(err, &dns):
		err = fmt.Errorf("there is no host %s", dns.Name)
	default:
		err = fmt.Errorf("no answer from %s: %w", c.url, err)
	}
	return errUnreached{err}
}

// refused says why the portal did not do it.
func (c *ctl) refused(resp *http.Response, text []byte) error {
	var said struct{ Error string }
	if json.Unmarshal(text, &said) != nil || said.Error == "" {
		said.Error = strings.TrimSpace(string(text))
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return errors.New("the portal does not accept the token: CONCERT_ADMIN_TOKEN must be that of the running Concert")
	case http.StatusForbidden:
		if said.Error == "" {
			return errors.New("the portal does not accept connections from this address: see -portal-allow")
		}
	case http.StatusNotFound:
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			return fmt.Errorf("%s has no such API: is -url that of the portal, and not of the site?", c.url)
		}
	}
	if said.Error == "" {
		said.Error = resp.Status
	}
	return errors.New(printable(said.Error))
}

// say prints a line for people.
func (c *ctl) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// printable makes a stranger's text fit for a terminal, which obeys control
// characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}
