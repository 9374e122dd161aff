package page

import "strings"

// split cuts text at the placeholders of the table. Text that merely looks
// like one stays as it is.
func split(text string, placeholders map[string]figure) []piece {
	var pieces []piece
	begin := 0 // of the text not yet in a piece
	for at := 0; ; {
		next := strings.Index(text[at:], "{{")
		if next < 0 {
			return append(pieces, piece{text: []byte(text[begin:])})
		}
		at += next
		name, _, closed := strings.Cut(text[at:], "}}")
		f, known := placeholders[name+"}}"]
		if !closed || !known {
			at++ // "{{{.Position}}" holds a placeholder at its second brace
			continue
		}
		pieces = append(pieces, piece{[]byte(text[begin:at]), f})
		at += len(name) + len("}}")
		begin = at
	}
}
