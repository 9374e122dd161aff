package site

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// images are the pictures a page shows; each is drawn in a colour of its own.
var images = [...]string{"/images/1.svg", "/images/2.svg", "/images/3.svg", "/images/4.svg"}

const stylesheet = `body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 0; background: #14213d; color: #e5e5e5 }
main { max-width: 34rem; margin: 10vh auto; padding: 2rem; background: #1f2f54; border-radius: 1rem }
h1 { color: #fca311; margin-top: 0 }
a { color: #fca311 }
img { border-radius: .4rem }
`

const script = `document.getElementById("script").textContent =
  "Stylesheet, script and pictures came with your admission pass, at " + new Date().toLocaleTimeString() + ".";
`

// asset is a file that needs no worker.
type asset struct{ mediaType, body string }

func assets() map[string]asset {
	files := map[string]asset{
		"/style/site.css": {"text/css; charset=utf-8", stylesheet},
		"/script/site.js": {"text/javascript; charset=utf-8", script},
		"/favicon.ico":    {"image/svg+xml", cover(0)},
	}
	for i, path := range images {
		files[path] = asset{"image/svg+xml", cover(i + 1)}
	}
	return files
}

// Assets lists the paths of what a page of the site refers to.
func Assets() []string {
	return append([]string{"/style/site.css", "/script/site.js"}, images[:]...)
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.mediaType)
	w.Header().Set("Cache-Control", "private, max-age=60")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(a.body))
}

// cover draws a record; n chooses its colour.
func cover(n int) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96">`+
		`<rect width="96" height="96" fill="hsl(%d 60%% 45%%)"/>`+
		`<circle cx="48" cy="48" r="36" fill="#111"/><circle cx="48" cy="48" r="12" fill="#fca311"/>`+
		`<circle cx="48" cy="48" r="3" fill="#111"/></svg>`, n*67)
}
