package soak

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// TestAuditorCountsAllButBrokenForms: of pages that are there together, those
// whose bodies broke off do not count; those of visitors who left do.
func TestAuditorCountsAllButBrokenForms(t *testing.T) {
	for _, tt := range []struct{ pages, forms, want int }{{1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {2, 1, 2}, {3, 2, 3}, {0, 4, 2}} {
		synctest.Test(t, func(t *testing.T) {
			const most = 2
			finish := make(chan struct{})
			a := newAuditor(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-finish }), most)
			ctx, hangUp := context.WithCancel(t.Context())
			for i := range tt.pages + tt.forms {
				r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
				if i >= tt.pages {
					r = httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader("x"))
				}
				go a.ServeHTTP(httptest.NewRecorder(), r) // ends with finish
			}
			synctest.Wait()
			hangUp()
			close(finish)
			if got := a.mostAtOnce(); got != tt.want {
				t.Errorf("%d pages and %d broken forms: %d counted, want %d", tt.pages, tt.forms, got, tt.want)
			}
		})
	}
}

// TestAuditorCountsUntilTheAnswer: a handler that has answered does not count,
// also before it has returned.
func TestAuditorCountsUntilTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		a := newAuditor(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "page")
			<-finish
		}), 1)
		for range 3 {
			go a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)) // ends with finish
			synctest.Wait()
		}
		close(finish)
		if got := a.mostAtOnce(); got != 1 {
			t.Errorf("%d counted, want 1", got)
		}
	})
}
