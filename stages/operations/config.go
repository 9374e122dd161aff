package operations

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/pipeline"
)

// MaxBody is the most bytes a request body to a route may have.
const MaxBody = 1 << 20

// Route is one row of the table.
type Route struct {
	Path    string   // clean path, such as /_room/stats
	Methods []string // GET implies HEAD
	Admin   bool     // needs the admin token
	Serve   func(v *pipeline.Visit)
}

// Config is what the stage is made of.
type Config struct {
	// Token is the bearer token of admin routes; empty turns them off (404).
	Token  string
	Routes []Route
}

func (c Config) check() error {
	var problems []error
	seen := make(map[string]bool, len(c.Routes))
	for _, r := range c.Routes {
		if seen[r.Path] {
			problems = append(problems, fmt.Errorf("operations: two routes for %s", r.Path))
		}
		seen[r.Path] = true
	}
	return errors.Join(problems...)
}

// allows reports whether the route answers the method.
func (r *Route) allows(method string) bool {
	for _, m := range r.Methods {
		if m == method || m == http.MethodGet && method == http.MethodHead {
			return true
		}
	}
	return false
}
