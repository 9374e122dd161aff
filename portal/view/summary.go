package view

import "fmt"

// matching says how many of a table's rows are shown and why.
func matching(p Paging, one, many string) string {
	text := counted(p.Total, one, many)
	if p.Query != "" {
		text += " match “" + p.Query + "”"
		if p.Total == 1 {
			text = "1 " + one + " matches “" + p.Query + "”"
		}
	}
	if p.Searched > 0 {
		text += fmt.Sprintf(", of the first %s looked at", number(p.Searched))
	}
	return text
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}
