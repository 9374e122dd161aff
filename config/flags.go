package config

import (
	"strconv"
	"strings"
)

// commandLine is what a command line says. It is read in the manner of
// package flag, which itself would stop at the first thing that is wrong.
type commandLine struct {
	flags         map[string]Setting // by name
	texts         map[string]string  // by key
	help, version bool
	problems      []error
}

// parseFlags reads the whole command line, past whatever is wrong with it.
// What the values are worth is judged later, together with all others.
func parseFlags(rows []Setting, args []string) *commandLine {
	cl := &commandLine{flags: make(map[string]Setting), texts: make(map[string]string)}
	for _, s := range rows {
		if s.Flag != "" {
			cl.flags[s.Flag] = s
		}
	}
	last := ""
	for len(args) > 0 {
		arg := args[0]
		if name, ok := cutDash(arg); ok {
			args = cl.take(name, args[1:], rows)
		} else {
			cl.stray(arg, last)
			args = args[1:]
		}
		last = arg
	}
	return cl
}

// cutDash returns what follows the one or two dashes of a flag. A lone dash is
// no flag.
func cutDash(arg string) (string, bool) {
	name, ok := strings.CutPrefix(arg, "-")
	if !ok || name == "" {
		return "", false
	}
	return strings.TrimPrefix(name, "-"), true
}

// take reads one flag, and returns the arguments that are left after its value.
func (cl *commandLine) take(flag string, rest []string, rows []Setting) []string {
	name, value, joined := strings.Cut(flag, "=")
	switch name {
	case "h", "help":
		cl.help = true
		return rest
	case "version":
		cl.version = true
		return rest
	}
	s, ok := cl.flags[name]
	switch {
	case !ok:
		cl.unknown(name, rows)
		// What follows is most likely its value, and no mistake of its own.
		if !joined && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			rest = rest[1:]
		}
	case joined:
		cl.set(s, value)
	case s.Kind == KindBool:
		cl.texts[s.Key] = "true"
	case len(rest) == 0:
		cl.problems = append(cl.problems, &Problem{Key: s.Key, Name: "flag", Value: "-" + name, Want: "a value after it"})
	default:
		cl.set(s, rest[0])
		rest = rest[1:]
	}
	return rest
}

// set takes a value. Of a flag that is given twice the last counts.
func (cl *commandLine) set(s Setting, value string) {
	if before, ok := cl.texts[s.Key]; ok && s.adds {
		value = before + "," + value
	}
	cl.texts[s.Key] = value
}

// unknown notes a flag that does not exist. It does not repeat the value: that
// may be a secret.
func (cl *commandLine) unknown(name string, rows []Setting) {
	fix := "concert -help lists all flags"
	var names []string
	for _, s := range rows {
		switch {
		case s.Flag != "":
			names = append(names, "-"+s.Flag)
		case name == strings.ReplaceAll(s.Key, "_", "-"):
			fix = "set " + s.Env + " instead, since others can read a command line"
		}
	}
	if near := nearest("-"+name, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	cl.problems = append(cl.problems, &Problem{Name: "flag", Value: "-" + name, Want: "a flag that exists", Fix: fix})
}

// stray notes an argument that belongs to no flag; last is the one before it.
func (cl *commandLine) stray(arg, last string) {
	fix := "options start with a dash, the command (such as check, ctl or gate; see concert -help) comes before them, and a value with spaces needs quotes"
	name, _ := cutDash(last)
	if _, err := strconv.ParseBool(arg); err == nil && cl.flags[name].Kind == KindBool {
		fix = "join it to its flag, as in " + last + "=" + arg
	}
	cl.problems = append(cl.problems, &Problem{Name: "argument", Value: arg, Fix: fix})
}
