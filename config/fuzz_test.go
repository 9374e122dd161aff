package config

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// FuzzValues sets one setting to anything, by flag or by variable. Whatever is
// accepted must pass the check of a finished Config, and its text must make
// the same value again; whatever is refused must be named.
func FuzzValues(f *testing.F) {
	rows := Settings()
	for i, s := range rows {
		for _, text := range []string{s.Default, s.Min, s.Max, "", "0", "-1", "a,b", "\x00"} {
			f.Add(uint(i), i%2 == 0, text)
		}
	}
	f.Add(uint(0), true, "[fe80::1%eth0]:80")
	f.Add(uint(3), true, "http://user:pass@[::1%25eth0]:80/%zz")
	f.Fuzz(func(t *testing.T, i uint, byFlag bool, text string) {
		s := rows[i%uint(len(rows))]
		var args, environ []string
		if byFlag && s.Flag != "" {
			args = []string{"-" + s.Flag + "=" + text}
		} else {
			environ = []string{s.Env + "=" + text}
		}
		l, err := Load(args, environ)
		if err != nil {
			if !strings.Contains(err.Error(), s.Flag) && !strings.Contains(err.Error(), s.Env) {
				t.Fatalf("%s is not named: %v", s.Key, err)
			}
			return
		}
		if err := l.Config.Validate(); err != nil {
			t.Fatalf("%q was accepted, then refused: %v", text, err)
		}
		first := s.bind.text(l.Config)
		if err := s.bind.set(l.Config, first); err != nil {
			t.Fatalf("%q was accepted, its text %q is not: %v", text, first, err)
		}
		if again := s.bind.text(l.Config); again != first {
			t.Fatalf("%q became %q and then %q", text, first, again)
		}
	})
}

// FuzzCommandLine reads whole command lines and environments, one argument and
// one variable a line.
func FuzzCommandLine(f *testing.F) {
	f.Add("-cap\n5\nstray\n-cpa=3\n--\n-version", "CONCERT_CAPACITY=7\nCONCERT_=\nX")
	f.Add("-api-json\nfalse\n-h", "=")
	f.Add("-\n---\n-=\n-upstream\nhttp://a:b@c:d@/", "CONCERT_CAPACITÄT=1")
	f.Fuzz(func(t *testing.T, args, environ string) {
		l, err := Load(strings.Split(args, "\n"), strings.Split(environ, "\n"))
		if complete := l != nil && l.Config != nil; complete != (err == nil) {
			t.Fatalf("Load returned %v and %v", l, err)
		}
		if err == nil && l.Config.Validate() != nil {
			t.Fatalf("accepted, then refused: %v", l.Config.Validate())
		}
	})
}

// FuzzStored gives one key any JSON. What is accepted must be stored in a
// form that loads to the same value.
func FuzzStored(f *testing.F) {
	rows := Settings()
	for i := range rows {
		for _, text := range []string{`1`, `"1s"`, `true`, `null`, `["/a"]`, `{}`, `"http://a"`, `"a.html"`, `[`, ``, `"\ud800"`} {
			f.Add(uint(i), text)
		}
	}
	base, err := Load(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, i uint, text string) {
		s := rows[i%uint(len(rows))]
		next, err := base.With(Changes{Set: map[string]json.RawMessage{s.Key: json.RawMessage(text)}})
		if err != nil {
			if !strings.Contains(err.Error(), s.Key) {
				t.Fatalf("%s is not named: %v", s.Key, err)
			}
			return
		}
		values := next.Stored()
		if !json.Valid(values[s.Key]) {
			t.Fatalf("%s %q stored as %q", s.Key, text, values[s.Key])
		}
		again, err := base.WithStored(maps.Clone(values))
		if err != nil {
			t.Fatalf("%s %q stored as %s: %v", s.Key, text, values[s.Key], err)
		}
		if d := next.Diff(again); d != nil {
			t.Fatalf("%s %q: %v", s.Key, text, d)
		}
	})
}
