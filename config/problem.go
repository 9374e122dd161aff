package config

import (
	"errors"
	"strconv"
)

// A Problem is one thing wrong with one setting. Load and Validate join them.
type Problem struct {
	Key   string // the setting, or "" when there is no such setting
	Name  string // as the operator wrote it: "-cap", "CONCERT_CAPACITY", "argument"
	Value string // as given; hidden when secret
	Want  string // what would be accepted
	Fix   string // what to do about it, or ""
	Part  bool   // Fix is about one part of a long Value, and quotes what is wrong
}

// Error is one line: name, value, what would be accepted, and the fix.
func (p *Problem) Error() string {
	if p.Part {
		return p.Name + ": " + p.Fix
	}
	text := p.Name + " " + strconv.Quote(shorten(p.Value))
	if p.Want != "" {
		text += ": want " + p.Want
	}
	if p.Fix != "" {
		text += ": " + p.Fix
	}
	return text
}

// shorten keeps a huge value from burying what is said about it.
func shorten(value string) string {
	const most = 200
	if len(value) <= most {
		return value
	}
	return value[:most] + "..."
}

// misfit is the error of a value that was not accepted; its text is the fix,
// or "" when what is wanted says it all.
type misfit string

func (m misfit) Error() string { return string(m) }

// validator collects problems.
type validator struct {
	problems []error
	bad      map[string]bool        // keys whose own value was refused
	name     func(s Setting) string // how the operator set s
	ownKeys  bool                   // nobody set an admit secret
}

// reject notes that the setting, which the operator calls name, does not
// accept text.
func (v *validator) reject(s Setting, name, text string, err error) {
	if v.bad == nil {
		v.bad = make(map[string]bool)
	}
	v.bad[s.Key] = true
	shown := s.redact(text)
	if s.Secret {
		shown = "(hidden)"
	}
	v.add(Problem{Key: s.Key, Name: name, Value: shown, Want: s.Want}, err)
}

// add notes a problem with err as its fix; of joined errors each is one about a
// part of the value.
func (v *validator) add(p Problem, err error) {
	all, joined := err.(interface{ Unwrap() []error })
	if !joined {
		p.Fix = err.Error()
		v.problems = append(v.problems, &p)
		return
	}
	for _, one := range all.Unwrap() {
		q := p
		q.Fix, q.Part = one.Error(), true
		v.problems = append(v.problems, &q)
	}
}

func (v *validator) err() error { return errors.Join(v.problems...) }
