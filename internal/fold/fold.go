// Package fold searches texts in any case of letters.
//
//	if fold.Contains(request.Agent, strings.ToLower(asked)) {
package fold

import (
	"strings"
	"unicode/utf8"
)

// Contains reports whether s contains a text in small letters, in any case
// of letters. What is ASCII, as paths and user agents are, is not copied.
func Contains(s, text string) bool {
	if text == "" {
		return true
	}
	first := text[0]
	if first >= utf8.RuneSelf {
		return strings.Contains(strings.ToLower(s), text)
	}
	capital := first
	if 'a' <= first && first <= 'z' {
		capital -= 'a' - 'A'
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return strings.Contains(strings.ToLower(s), text)
		case (c == first || c == capital) && len(s)-i >= len(text) && equalFold(s[i:i+len(text)], text):
			return true
		}
	}
	return false
}

// equalFold compares ASCII of the same length; text is in small letters. What
// is not ASCII is never equal.
func equalFold(s, text string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}
