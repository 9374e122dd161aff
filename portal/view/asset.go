package view

import (
	"embed"
	"path"
)

//go:embed static
var staticFiles embed.FS

// Asset returns a static file by its path below /assets/, such as
// css/portal.css, with its content type. Only css/, js/ and lib/ have files;
// anything else is not found.
func Asset(name string) (body []byte, contentType string, ok bool) {
	body, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return nil, "", false
	}
	return body, types[path.Ext(name)], true
}

// types do not depend on what the machine has in its tables.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}
