package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// maskEvery is how often the files are looked through for what is old enough.
const maskEvery = time.Hour

// maskPrefix cuts a client or range to what may be remembered of it.
func maskPrefix(p netip.Prefix) netip.Prefix {
	n := 48
	if p.Addr().Is4() {
		n = 24
	}
	if !p.IsValid() || p.Bits() <= n {
		return p
	}
	masked, err := p.Addr().Prefix(n)
	if err != nil {
		panic("BUG: history: mask: " + err.Error())
	}
	return masked
}

// maskText is maskPrefix for the text of an address or a network.
func maskText(text string) string {
	if p, err := netip.ParsePrefix(text); err == nil {
		return clientip.FormatKey(maskPrefix(p))
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	return clientip.FormatKey(maskPrefix(clientip.KeyOf(a)))
}

// maskLocked masks clients as far as their requests are older than a time, and
// bans that ended before it. A ban in force keeps the addresses it is about.
func (h *History) maskLocked(before time.Time) {
	old := make([]*client, 0, len(h.clients.byKey))
	for key, c := range h.clients.byKey {
		if maskPrefix(key) != key && c.first < before.UnixNano() {
			old = append(old, c)
		}
	}
	for _, c := range old {
		h.clients.mask(c, before)
	}
	for _, w := range h.bans.all {
		if !w.active(before) && w.ended().Before(before) {
			w.mask()
		}
	}
}

// mask moves a client's requests from before a time to its network.
func (t *clients) mask(c *client, before time.Time) {
	t.drop(c)
	network := &client{key: maskPrefix(c.key), flagged: c.flagged}
	rest := &client{key: c.key, flagged: c.flagged}
	c.oldestFirst(func(e entry, agent string) {
		to := rest
		if e.at < before.UnixNano() {
			to, e.host = network, 0
		}
		to.take(&e, agent)
	})
	if rest.requests == 0 {
		network.requests, network.blocked, network.errors = c.requests, c.blocked, c.errors
	} else { // older requests are counted where the client still is
		rest.requests, rest.blocked, rest.errors = c.requests-network.requests, c.blocked-network.blocked, c.errors-network.errors
	}
	for _, part := range []*client{network, rest} {
		if part.requests > 0 {
			t.merge(part)
		}
	}
}

// take adds an entry of another client.
func (c *client) take(e *entry, agent string) {
	c.pushed++
	c.requests++
	switch {
	case e.blocked:
		c.blocked++
	case e.status >= 400:
		c.errors++
	}
	c.seen(e.at)
	e.agent = c.agent(agent)
	c.push(*e)
}

// mask leaves of a ban's addresses only their networks.
func (w *window) mask() {
	w.target = maskPrefix(w.target)
	masked := make(map[netip.Prefix]*visitor, len(w.visitors))
	for key, v := range w.visitors {
		key = maskPrefix(key)
		if masked[key] == nil {
			masked[key] = &visitor{ban: w, key: key}
		}
		masked[key].requests += v.requests
	}
	w.visitors = masked
	if w.trigger != nil {
		t := *w.trigger
		t.Client = maskText(t.Client)
		w.trigger = &t
	}
}

// mask rewrites the files in which something has become old enough.
func (w *writer) mask(now time.Time) {
	if w == nil {
		return
	}
	after := w.h.settings.Load().MaskAfter
	if after <= 0 || now.Before(w.nextMask) || !w.willing(now) {
		return
	}
	w.nextMask = now.Add(maskEvery)
	w.flush(now)
	if w.file != nil { // not every system renames over an open file
		w.fail(w.file.Close(), now)
		w.file = nil
	}
	for n := range w.masked {
		if w.masked[n] {
			continue
		}
		all, err := w.maskFile(w.older(n), now.Add(-after))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.h.opt.Log.Error("history log not masked", "file", w.older(n), "error", err)
		default:
			w.masked[n] = all && n > 0
		}
	}
}

// maskFile replaces a file by one in which every line from before a time is
// masked, and reports whether that is every line. What cannot be read could
// hold an address, and is left out.
func (w *writer) maskFile(name string, before time.Time) (all bool, err error) {
	in, err := os.Open(name)
	if err != nil {
		return false, err
	}
	temp := name + ".masking"
	out, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, errors.Join(fmt.Errorf("make the masked file: %w", err), in.Close())
	}
	all, err = w.maskLines(in, out, before)
	if err == nil {
		err = out.Sync()
	}
	err = errors.Join(err, out.Close(), in.Close())
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("write the masked file: %w", err), os.Remove(temp))
	}
	return all, nil
}

func (w *writer) maskLines(from io.Reader, to io.Writer, before time.Time) (all bool, err error) {
	out := bufio.NewWriter(to)
	all = true
	_, err = eachLine(from, func(line []byte) error {
		var e event
		if json.Unmarshal(line, &e) != nil {
			return nil
		}
		all = w.maskEvent(&e, before) && all
		_, err := out.Write(appendEvent(nil, &e))
		return err
	})
	if err != nil {
		return false, err
	}
	return all, out.Flush()
}

// maskEvent masks an event if it is from before a time, and reports whether it
// has nothing left to mask.
func (w *writer) maskEvent(e *event, before time.Time) bool {
	old := e.At.Before(before)
	if old && e.IP != "" {
		e.IP = maskText(e.IP)
	}
	if old && e.Ess != nil {
		e.Ess.IP8 = ""
		if p, err := netip.ParsePrefix(e.Ess.Range); err == nil {
			e.Ess.Range = maskPrefix(p).String()
		}
	}
	if old && e.Trigger != nil {
		e.Trigger.Client = maskText(e.Trigger.Client)
	}
	if e.T != kindBan || !old {
		return old
	}
	if w.h.holds(e.Ban, before) {
		return false
	}
	e.Target = maskText(e.Target)
	if p, err := netip.ParsePrefix(e.Scope); err == nil {
		e.Scope = maskPrefix(p).String()
	}
	e.Range = e.Range || strings.Contains(e.Target, "/")
	return true
}

// holds reports whether a ban holds or ended after a time.
func (h *History) holds(number uint64, after time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.bans.all {
		if w.number == number {
			return w.active(after) || !w.ended().Before(after)
		}
	}
	return false
}
