package portal

import (
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/portal/view"
)

// maxKeys is how many rows one fragment can ask after.
const maxKeys = 200

// tableQuery is what a table is asked for.
type tableQuery struct {
	page, size int
	text       string // in small letters
	flagged    bool
	keys       []string
}

// table reads the parameters of a table. A page and a size that make no sense
// are the first and the smallest, as in a link that somebody shortened.
func (r *request) table() tableQuery {
	q := tableQuery{page: 1, text: strings.ToLower(cut(strings.TrimSpace(r.query.Get("q")), maxPath))}
	if n, err := strconv.Atoi(r.query.Get("page")); err == nil {
		q.page = n
	}
	q.size, _ = strconv.Atoi(r.query.Get("size")) // 0 is none of the sizes
	q.flagged = r.query.Get("flagged") == "1"
	if keys := r.query.Get("keys"); keys != "" {
		q.keys = strings.SplitN(keys, ",", maxKeys+1)
		q.keys = q.keys[:min(len(q.keys), maxKeys)]
	}
	return q
}

// paging clamps the question to what there is.
func (q *tableQuery) paging(total int) view.Paging {
	p := view.NewPaging(total, q.page, q.size)
	p.Query, p.Flagged = q.text, q.flagged
	return p
}

// where says on which page the asked-for keys are, given their places from 0.
func (q *tableQuery) where(p *view.Paging, placeOf func(key string) (int, bool)) {
	p.Where = make(map[string]int, len(q.keys))
	for _, key := range q.keys {
		p.Where[key] = 0
		if i, ok := placeOf(key); ok {
			p.Where[key] = i/p.Size + 1
		}
	}
}

// whereIn is where for a table that is a list.
func whereIn[T any](q *tableQuery, p *view.Paging, list []T, key func(T) string) {
	if len(q.keys) == 0 {
		return
	}
	places := make(map[string]int, len(list))
	for i, v := range list {
		places[key(v)] = i
	}
	q.where(p, func(key string) (int, bool) { i, ok := places[key]; return i, ok })
}

// shown are the rows of a list that are on the page.
func shown[T any](p view.Paging, list []T) []T {
	return list[p.First():min(p.First()+p.Size, len(list))]
}
