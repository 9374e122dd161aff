package blackbox

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestSmallHeapsHaveHeadroom: a busy Concert does not collect garbage each time
// its few megabytes have doubled.
func TestSmallHeapsHaveHeadroom(t *testing.T) {
	p := start(t, "http://127.0.0.1:9")
	next := regexp.MustCompile(`# NextGC = (\d+)`)
	rawtest.Until(t, "the heap has headroom", func() bool { // it is renewed after a collection
		_, heap := call(t, http.MethodGet, p.URL+"/_room/debug/heap?gc=1&debug=1", adminToken, "")
		m := next.FindStringSubmatch(heap)
		if m == nil {
			t.Fatalf("the heap profile does not tell when it is collected next: %.200q", heap)
		}
		bytes, err := strconv.Atoi(m[1])
		return err == nil && bytes >= 64<<20
	})
}
