package parts

import "runtime/debug"

// Raced reports whether this test looks for data races, which makes what it does
// ten times as slow and says nothing about sizes.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
