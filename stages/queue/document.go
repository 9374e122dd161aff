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

// finish sends what was begun.
func (s *settings) finish(v *pipeline.Visit, status int, d rendering, values page.Values) {
	buf, b := s.buffer()
	if d.gzip {
		b = d.AppendGzip(b, values)
	} else {
		b = d.Append(b, values)
	}
	s.send(v, status, buf, b)
}

// sendDocument answers with a page.
func (s *settings) sendDocument(v *pipeline.Visit, status int, ds *documents, values page.Values) {
	s.finish(v, status, s.begin(v, ds), values)
}
