package queue

import (
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// documents are a page of ours in every language.
type documents [language.Count]document

// document is a page with its header prepared, as it is and compressed.
type document struct {
	*page.Page
	plain, gzipped *pipeline.Fields
}

func newDocuments(set *page.Set) *documents {
	var ds documents
	for _, l := range language.All() {
		d := document{Page: set.In(l)}
		d.plain = private.With("Content-Security-Policy", d.Policy(), "Content-Language", d.Language())
		d.gzipped = d.plain.With("Content-Encoding", "gzip")
		ds[l] = d
	}
	return &ds
}

// rendering is a document on its way to a visitor.
type rendering struct {
	*document
	gzip bool
}

// begin chooses a page in the visitor's language, compressed when they accept
// that, and sets its header.
func (s *settings) begin(v *pipeline.Visit, ds *documents) rendering {
	d := rendering{&ds[pipeline.LanguageOf(v.R)], pipeline.AcceptsGzip(v.R)}
	fields := d.plain
	if d.gzip {
		fields = d.gzipped
	}
	v.SetFields(fields)
	v.W.Header()["Content-Type"] = htmlType
	return d
}

// render writes what was begun into a buffer from the pool, for send.
func (s *settings) render(d rendering, values page.Values) (buf *[]byte, body []byte) {
	buf, b := s.buffer()
	if d.gzip {
		return buf, d.AppendGzip(b, values)
	}
	return buf, d.Append(b, values)
}

// sendDocument answers with a page.
func (s *settings) sendDocument(v *pipeline.Visit, status int, ds *documents, values page.Values) {
	buf, body := s.render(s.begin(v, ds), values)
	s.send(v, status, buf, body)
}
