package page

// Custom prepares an operator's own page. {{.Position}} becomes the place in
// line, at least 1, and {{.SkipURL}} becomes Values.SkipURL; both as plain text,
// so that they fit into markup and scripts alike. Everything else is sent as it
// is. The page polls at whatever pace its own script keeps.
func Custom(html []byte) *Set {
	p := newPage(string(html), map[string]figure{"{{.Position}}": position, "{{.SkipURL}}": plainSkipURL})
	var s Set
	for l := range s {
		s[l] = p
	}
	return &s
}
