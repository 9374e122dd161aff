//go:build !linux

package fleet

import (
	"errors"
	"testing"
)

// newCables is for systems that have network namespaces.
func newCables(testing.TB, string, int) (network, error) {
	return nil, errors.New("this system has no network namespaces")
}
