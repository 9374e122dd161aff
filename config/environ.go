package config

import (
	"fmt"
	"strings"
)

const envPrefix = "CONCERT_"

// parseEnviron picks the settings out of the environment, and warns about
// variables that look like settings and are none.
func parseEnviron(rows []Setting, environ []string) (layer, []string) {
	keys := make(map[string]string, len(rows))
	var names []string
	byFlag := make(map[string]string) // what somebody who knows the flag tries: CONCERT_CAP
	for _, s := range rows {
		keys[s.Env] = s.Key
		names = append(names, s.Env)
		byFlag[envPrefix+strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_"))] = s.Env
	}
	env := newLayer(FromEnv)
	var warnings []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.TrimSpace(value) == "" {
			continue
		}
		if key, ok := keys[name]; ok {
			env.texts[key] = value
		} else if strings.HasPrefix(strings.ToUpper(name), envPrefix) {
			near := byFlag[strings.ToUpper(name)]
			if near == "" {
				near = nearest(name, names)
			}
			warnings = append(warnings, unknownVariable(name, near))
		}
	}
	return env, warnings
}

// unknownVariable does not repeat the value: it may be a secret under a
// mistyped name.
func unknownVariable(name, near string) string {
	warning := fmt.Sprintf("%q is not a variable Concert knows and has no effect", name)
	if near != "" {
		warning += "; did you mean " + near + "?"
	}
	return warning
}

// nearest returns the name that is closest to given, or "" when none is close
// enough to be what was meant: one slip in four letters at most, not counting
// those that all variables begin with.
func nearest(given string, names []string) string {
	most := len(strings.TrimPrefix(strings.ToUpper(given), envPrefix)) / 4
	best := ""
	for _, name := range names {
		if max(len(given)-len(name), len(name)-len(given)) > most {
			continue
		}
		if d := slips(strings.ToUpper(given), strings.ToUpper(name)); d <= most {
			best, most = name, d-1
		}
	}
	return best
}

// slips counts the typing errors between two words: letters that are missing,
// extra, wrong, or swapped with their neighbour (the distance of Damerau and
// Levenshtein, where no part is edited twice).
func slips(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			wrong := 0
			if a[i-1] != b[j-1] {
				wrong = 1
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
