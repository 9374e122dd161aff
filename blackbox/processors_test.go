package blackbox

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// TestProcessorsAreMinded: Concert looks at how many processors it needs, unless
// the operator has said how many to use.
func TestProcessorsAreMinded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.NumCPU() == 1 {
		t.Skip("there is nothing to choose from")
	}
	minded := func(env ...string) bool {
		t.Helper()
		p := launched(t, launch.Options{
			Args: []string{"-upstream", "http://127.0.0.1:9"},
			Env:  append([]string{"CONCERT_ADMIN_TOKEN=" + adminToken}, env...),
		})
		_, goroutines := call(t, http.MethodGet, p.URL+"/_room/debug/goroutine?debug=1", adminToken, "")
		if !strings.Contains(goroutines, "net/http.(*Server).Serve") {
			t.Fatalf("no list of goroutines: %.200q", goroutines)
		}
		return strings.Contains(goroutines, "/internal/processors.") // in watch, or yet to begin it
	}
	if !minded("GOMAXPROCS=") {
		t.Error("nobody looks at how many processors are needed")
	}
	if minded("GOMAXPROCS=2") {
		t.Error("GOMAXPROCS is not heeded")
	}
}
