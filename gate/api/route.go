package api

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
)

// route is one row of a handler's table. An error it returns is answered by
// writeFault; nil means that it has answered.
type route struct {
	method, pattern string // GET implies HEAD; the pattern is http.ServeMux's
	serve           func(http.ResponseWriter, *http.Request) error
}

// table serves routes.
type table struct{ mux *http.ServeMux }

func newTable(log *slog.Logger, routes []route) table {
	t := table{http.NewServeMux()}
	byPattern := map[string][]route{}
	for _, r := range routes {
		byPattern[r.pattern] = append(byPattern[r.pattern], r)
	}
	for pattern, rows := range byPattern {
		t.mux.Handle(pattern, methods(log, rows))
	}
	t.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeFault(w, &fault{status: http.StatusNotFound, code: "not_found", text: "there is nothing at this address"}, log)
	})
	return t
}

// methods picks among the routes of one pattern.
func methods(log *slog.Logger, rows []route) http.Handler {
	var allow []string
	for _, r := range rows {
		allow = append(allow, r.method)
	}
	slices.Sort(allow)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		for _, row := range rows {
			if row.method == r.Method || row.method == http.MethodGet && r.Method == http.MethodHead {
				if err := row.serve(w, r); err != nil {
					writeFault(w, err, log)
				}
				return
			}
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		writeFault(w, &fault{status: http.StatusMethodNotAllowed, code: "method_not_allowed", text: "this address does not take that method"}, log)
	})
}

// ServeHTTP implements http.Handler.
func (t table) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.mux.ServeHTTP(w, r) }
