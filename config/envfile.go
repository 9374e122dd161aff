package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxEnvFile bounds a file of variables, in bytes.
const maxEnvFile = 1 << 20

// addFiles lays the variables of the files over those of the environment; the
// last file wins. That way an edited file has an effect on a running process,
// whose own environment nobody can change, and which often holds the earlier
// content of that very file. The list of files is called name.
func (env *layer) addFiles(rows []Setting, paths []string, name string) (warnings []string, problems []error) {
	for _, path := range paths {
		pairs, err := readEnvFile(path)
		if err != nil {
			problems = append(problems, &Problem{
				Key: "env_file", Name: name, Value: path,
				Want: "a readable file of NAME=value lines", Fix: err.Error(),
			})
			continue
		}
		more, unknown := parseEnviron(rows, pairs)
		for _, warning := range unknown {
			warnings = append(warnings, path+": "+warning)
		}
		for key, text := range more.texts {
			s := row(rows, key)
			if key == "env_file" {
				warnings = append(warnings, fmt.Sprintf("%s: %s has no effect in such a file", path, s.Env))
				continue
			}
			env.texts[key], env.names[key] = text, path+": "+s.Env
		}
	}
	return warnings, problems
}

// readEnvFile returns the variables of a file as NAME=value pairs.
func readEnvFile(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxEnvFile:
		return nil, misfit("it is larger than 1 MiB")
	}
	return parseEnvFile(text)
}

// parseEnvFile reads NAME=value lines. Blank lines and those that start with #
// are comments; "export " before a name and one pair of quotes around a value
// are dropped. Nothing in a value is expanded or unescaped. The error names a
// line and not its text, which may be a secret.
func parseEnvFile(text []byte) ([]string, error) {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, misfit(fmt.Sprintf("line %d holds a NUL byte", 1+bytes.Count(text[:i], []byte("\n"))))
	}
	var pairs []string
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\"'") {
			return nil, misfit(fmt.Sprintf("line %d is not NAME=value", n))
		}
		pairs = append(pairs, name+"="+unquote(strings.TrimSpace(value)))
	}
	return pairs, nil
}

// unquote drops one pair of quotes around a value.
func unquote(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}
