package tables

import (
	"fmt"
	"strings"
)

// Replace puts content between the marks of that name. The error says which
// mark is missing, or that there are two.
func Replace(text, name, content string) (string, error) {
	begin, end := "<!-- measured: "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(text, begin)
	if !found {
		return "", fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("there is no %q behind %q", end, strings.TrimSpace(begin))
	}
	if strings.Contains(after, begin) {
		return "", fmt.Errorf("there are two lines %q", strings.TrimSpace(begin))
	}
	return before + begin + "\n" + strings.TrimSpace(content) + "\n\n" + end + after, nil
}
