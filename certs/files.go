package certs

import (
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// files are certificates from files, as they were read. They are not changed:
// reading again makes others.
type files struct {
	pairs []loaded
	names map[string][]*tls.Certificate // by name; wildcards as "*.example.com"
}

// loaded is a pair as it was read.
type loaded struct {
	Pair
	cert *tls.Certificate
	seen [2]stamp // of the files, from before they were read
}

// stamp tells whether a file is another one than before.
type stamp struct {
	changed time.Time
	size    int64
}

// stampOf follows symbolic links, which is how certbot puts files in place.
func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

func (p Pair) stamps() [2]stamp { return [2]stamp{stampOf(p.Cert), stampOf(p.Key)} }

// load reads a pair together with its stamps.
func (p Pair) load() (loaded, error) {
	seen := p.stamps()
	cert, err := p.Load()
	return loaded{p, cert, seen}, err
}

// newFiles makes the table of names.
func newFiles(pairs []loaded) *files {
	f := &files{pairs: pairs, names: make(map[string][]*tls.Certificate)}
	for _, p := range pairs {
		for _, name := range p.cert.Leaf.DNSNames {
			name = folded(name)
			f.names[name] = append(f.names[name], p.cert)
		}
	}
	return f
}

// loadFiles reads every pair; those that are in have, of the same files, are
// taken from there. The error joins what is wrong.
func loadFiles(pairs []Pair, have *files) (*files, error) {
	var all []loaded
	var errs []error
	for _, p := range pairs {
		if old := have.of(p); old != nil {
			all = append(all, *old)
			continue
		}
		l, err := p.load()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, l)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newFiles(all), nil
}

// of returns what was read of a pair; nil for none.
func (f *files) of(p Pair) *loaded {
	if f == nil {
		return nil
	}
	i := slices.IndexFunc(f.pairs, func(l loaded) bool { return l.Pair == p })
	if i < 0 {
		return nil
	}
	return &f.pairs[i]
}

// pick returns the certificate for a name, or nil.
func (f *files) pick(name string, hello *tls.ClientHelloInfo) *tls.Certificate {
	fit := f.names[name]
	if fit == nil {
		if _, rest, ok := strings.Cut(name, "."); ok {
			fit = f.names["*."+rest]
		}
	}
	if len(fit) < 2 {
		return first(fit)
	}
	for _, c := range fit {
		if hello.SupportsCertificate(c) == nil {
			return c
		}
	}
	return fit[0]
}

// usual is the certificate for whoever asks for a name that none is for.
func (f *files) usual() *tls.Certificate {
	if len(f.pairs) == 0 {
		return nil
	}
	return f.pairs[0].cert
}

func first(certs []*tls.Certificate) *tls.Certificate {
	if len(certs) == 0 {
		return nil
	}
	return certs[0]
}

// reread returns f with those pairs read again whose files have changed, and
// which those are. A pair that cannot be used stays as it was; the error joins
// why.
func (f *files) reread() (next *files, changed []loaded, err error) {
	var errs []error
	all := slices.Clone(f.pairs)
	for i, p := range all {
		if p.stamps() == p.seen {
			continue
		}
		l, err := p.load()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all[i] = l
		changed = append(changed, l)
	}
	if len(changed) == 0 {
		return f, nil, errors.Join(errs...)
	}
	return newFiles(all), changed, errors.Join(errs...)
}
