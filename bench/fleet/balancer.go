package fleet

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	// lookAgain is the pause before a request is sent to another instance.
	lookAgain = 20 * time.Millisecond
	mostTries = 100
)

// balancer sends each request to any of the instances that are there. It may be
// used by many goroutines.
type balancer struct {
	transport *http.Transport

	mu    sync.Mutex // guards hosts
	hosts []string   // "" for an instance that is not there
}

func newBalancer(instances int) *balancer {
	return &balancer{
		transport: &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Second},
		hosts:     make([]string, instances),
	}
}

func (b *balancer) set(instance int, host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hosts[instance] = host
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range 2 * len(b.hosts) {
		if h := b.hosts[rand.IntN(len(b.hosts))]; h != "" {
			return h
		}
	}
	return ""
}

// RoundTrip implements http.RoundTripper. Requests have no body.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	for range mostTries {
		if host := b.pick(); host != "" {
			try := r.Clone(r.Context())
			try.URL.Host = host
			var resp *http.Response
			if resp, err = b.transport.RoundTrip(try); err == nil {
				return resp, nil
			}
		}
		pause := time.NewTimer(lookAgain)
		select {
		case <-pause.C:
		case <-r.Context().Done():
			pause.Stop()
			return nil, r.Context().Err()
		}
	}
	return nil, fmt.Errorf("no instance answers: %w", err)
}
