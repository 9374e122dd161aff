package pipeline

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
)

// Renderer turns refusals into responses: HTML in the visitor's language for
// browsers, JSON for everyone else. It is immutable and safe for concurrent use.
// Everything but the retry figure is prepared, so that a refusal allocates
// nothing.
type Renderer struct {
	texts  map[Reason]Text
	json   [NumReasons][]part
	html   [language.Count][NumReasons][]part
	bodies *sync.Pool // of *[]byte
}

var (
	terseFields = NewFields("Cache-Control", "no-store", "X-Robots-Tag", "noindex")
	bodyFields  = terseFields.With("Vary", "Accept, Accept-Language, Cookie")

	jsonType = []string{"application/json; charset=utf-8"}
	htmlType = []string{"text/html; charset=utf-8"}
)

// NewRenderer prepares the texts; texts replaces the built-in wording of the
// reasons it holds, field by field, in every language.
func NewRenderer(texts map[Reason]Text) *Renderer {
	r := &Renderer{texts: texts, bodies: &sync.Pool{
		New: func() any { b := make([]byte, 0, 4096); return &b },
	}}
	for reason := NotRefused + 1; reason < NumReasons; reason++ {
		r.json[reason] = jsonForm(reasons[reason], merge(reasons[reason].text, texts[reason]))
	}
	r.prepare(notice.Notice{})
	return r
}

// Announcing returns a renderer that also shows what the operator has to say,
// on the pages that people stay on until there is room for them.
func (r *Renderer) Announcing(n notice.Notice) *Renderer {
	out := *r
	out.prepare(n)
	return &out
}

// prepare makes the pages.
func (r *Renderer) prepare(n notice.Notice) {
	for l, w := range wordings() {
		for reason := NotRefused + 1; reason < NumReasons; reason++ {
			said := ""
			if reasons[reason].again {
				said = n[l]
			}
			r.html[l][reason] = htmlForm(reasons[reason], language.Language(l), merge(w.texts[reason], r.texts[reason]), said)
		}
	}
}

func merge(base, over Text) Text {
	if over.Title != "" {
		base.Title = over.Title
	}
	if over.Body != "" {
		base.Body = over.Body
	}
	if over.Error != "" {
		base.Error = over.Error
	}
	return base
}

// Render answers v with the refusal. Nothing is written when the client is
// gone or the response has begun.
func (r *Renderer) Render(v *Visit, f *Refusal) {
	v.Reason = f.Reason
	if f.Reason == ClientGone {
		v.rec.status = f.Reason.Status()
		return
	}
	w := reasons[f.Reason]
	retry := seconds(f.RetryAfter)
	if f.RetryAfter == 0 {
		retry = seconds(w.retry)
	}
	v.forgetFields()
	h := v.W.Header()
	if w.retry > 0 {
		h["Retry-After"] = Number(retry)
	}
	if w.terse {
		v.SetFields(terseFields)
		h["Content-Length"] = Number(0)
		v.W.WriteHeader(w.status)
		return
	}
	v.SetFields(bodyFields)
	r.body(v, w.status, f.Reason, retry)
}

// body writes the HTML or JSON form, headers first.
func (r *Renderer) body(v *Visit, status int, reason Reason, retry int) {
	buf := r.bodies.Get().(*[]byte)
	defer r.bodies.Put(buf)
	parts, speaks := r.json[reason], language.English
	h := v.W.Header()
	if WantsHTML(v.R) {
		speaks = LanguageOf(v.R)
		parts = r.html[speaks][reason]
		h["Content-Type"] = htmlType
	} else {
		h["Content-Type"] = jsonType
	}
	b := (*buf)[:0]
	for _, p := range parts {
		b = append(b, p.text...)
		switch p.then {
		case asSeconds:
			b = strconv.AppendInt(b, int64(retry), 10)
		case asWords:
			b = wordings()[speaks].appendWait(b, retry)
		}
	}
	h["Content-Length"] = Number(len(b))
	v.W.WriteHeader(status)
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(b) // the client may have left; there is nobody to tell
	}
	*buf = b
}
