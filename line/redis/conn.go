package redisline

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// Conn is a connection to Redis or Valkey that is made when it is first asked
// for, and again after that has failed. It may be used by several goroutines.
type Conn struct {
	// CallTimeout is after what a call counts as failed: two seconds, unless
	// it is changed before the first use.
	CallTimeout time.Duration

	option rueidis.ClientOption

	mu     sync.Mutex // guards the fields below
	client rueidis.Client
	tried  time.Time
	err    error // of that try
	closed bool
}

// callTimeout is what CallTimeout is to begin with.
const callTimeout = 2 * time.Second

// connectAgain is the pause after a connection could not be made.
const connectAgain = 200 * time.Millisecond

// parameters are what the query of a URL may hold.
var parameters = []string{"addr", "client_name", "db", "dial_timeout", "master_set", "protocol", "skip_verify", "write_timeout"}

// ParseURL reads where Redis is:
//
//	redis://user:password@host:6379/0                          one server
//	rediss://host:6379                                         the same, over TLS
//	unix:///run/redis.sock                                     the same, on a socket
//	redis://host:26379?addr=host2:26379&master_set=mymaster    sentinels
//	redis://host:6379?addr=host2:6379                          a cluster
//
// The error names what is wrong and shows no password.
func ParseURL(text string) (*Conn, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	for name := range u.Query() {
		if !slices.Contains(parameters, name) {
			return nil, fmt.Errorf("parameter %q is unknown; there are %s", name, strings.Join(parameters, ", "))
		}
	}
	option, err := rueidis.ParseURL(text)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), text, "the URL"))
	}
	if option.Sentinel.MasterSet != "" {
		option.Sentinel.TLSConfig = option.TLSConfig
	}
	return newConn(option), nil
}

// newConn is a connection by the options of the client library. What a line
// cannot do with is set.
func newConn(o rueidis.ClientOption) *Conn {
	if o.Dialer.Timeout == 0 {
		o.Dialer.Timeout = callTimeout
	}
	if o.ConnWriteTimeout == 0 {
		o.ConnWriteTimeout = 2 * callTimeout
	}
	o.DisableRetry, o.DisableCache = true, true // a call that may have been carried out is not made again
	return &Conn{CallTimeout: callTimeout, option: o}
}

// OneServer reports whether there is one server and no other to turn to.
func (c *Conn) OneServer() bool {
	return len(c.option.InitAddress) == 1 && c.option.Sentinel.MasterSet == ""
}

// Client is the client. The error says why there is none for now.
func (c *Conn) Client() (rueidis.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.client != nil:
		return c.client, nil
	case c.closed:
		return nil, errors.New("redis: the connection is closed")
	case c.err != nil && time.Since(c.tried) < connectAgain:
		return nil, c.err
	}
	c.client, c.err = rueidis.NewClient(c.option)
	c.tried = time.Now()
	if c.err != nil {
		c.client, c.err = nil, fmt.Errorf("connect to redis: %w", c.err)
	}
	return c.client, c.err
}

// Close ends the connection.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed = true; c.client != nil {
		c.client.Close()
		c.client = nil
	}
}
