package queue

import (
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// documents are a page of ours in every language.
type documents [language.Count]document

// document is a page with its headers prepared.
type document struct {
	*page.Page
	policy, language []string // nil: not sent
}

func newDocuments(set *page.Set) *documents {
	var ds documents
	for _, l := range language.All() {
		d := document{Page: set.In(l)}
		if d.Policy() != "" {
			d.policy = []string{d.Policy()}
		}
		if d.Language() != "" {
			d.language = []string{d.Language()}
		}
		ds[l] = d
	}
	return &ds
}

// sendDocument answers with a page in the visitor's language, compressed when
// they accept that.
func (s *settings) sendDocument(v *pipeline.Visit, status int, ds *documents, values page.Values) {
	d := &ds[pipeline.LanguageOf(v.R)]
	h := v.W.Header()
	h["Content-Type"] = htmlType
	if d.policy != nil {
		h["Content-Security-Policy"] = d.policy
	}
	if d.language != nil {
		h["Content-Language"] = d.language
	}
	buf, b := s.buffer()
	if page.AcceptsGzip(v.R.Header["Accept-Encoding"]) {
		h["Content-Encoding"] = gzipped
		b = d.AppendGzip(b, values)
	} else {
		b = d.Append(b, values)
	}
	s.send(v, status, buf, b)
}
