package blackbox

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
)

// siteName is the name of the site in tests of TLS.
const siteName = "site.test"

// secure is a Concert that speaks TLS itself.
type secure struct {
	*launch.Process
	ca        *certtest.Authority
	cert, key string // its files
}

// startSecure runs Concert with a certificate of a file, until the test ends.
func startSecure(t *testing.T, origin string, args ...string) *secure {
	t.Helper()
	s := &secure{ca: certtest.New(t)}
	s.cert, s.key = s.ca.Issue(t, certtest.Names(siteName, "127.0.0.1")).Write(t, t.TempDir(), "site")
	if slices.Contains(args, "-http3") { // of a port on 0, somebody may have the twin over UDP
		args = append([]string{"-listen", parts.Address(t)}, args...)
	}
	s.Process = startNamed(t, siteName, origin, append([]string{"-tls-cert", s.cert, "-tls-key", s.key}, args...)...)
	return s
}

// startNamed runs Concert over TLS, asking for it by a name.
func startNamed(t *testing.T, name, origin string, args ...string) *launch.Process {
	t.Helper()
	env := []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret}
	if slices.Contains(args, "-tls-eab-id") {
		env = append(env, "CONCERT_TLS_EAB_KEY="+eabKey)
	}
	return launched(t, launch.Options{
		Args:       append([]string{"-upstream", "http://" + origin}, args...),
		Env:        env,
		ServerName: name,
	})
}

// transport trusts the authority, and speaks HTTP/2 or HTTP/1.1.
func (s *secure) transport(t *testing.T, h2 bool) *http.Transport {
	tr := &http.Transport{ForceAttemptHTTP2: h2, TLSClientConfig: &tls.Config{RootCAs: s.ca.Pool()}}
	if !h2 {
		tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// visitor comes by TLS.
func (s *secure) visitor(t *testing.T, h2 bool) *visitor {
	v := newVisitor(t, s.Process)
	v.client.Transport = s.transport(t, h2)
	return v
}

// tlsFigures are what the tests read of TLS in /_room/stats.
type tlsFigures struct {
	Occupancy     int `json:"occupancy"`
	AssetInFlight int `json:"asset_in_flight"`
	TLS           struct {
		Enabled      bool
		Certificates []struct {
			Names    []string
			Source   string
			NotAfter time.Time `json:"not_after"`
			Error    string
		}
		Full         int    `json:"handshakes_full_total"`
		Resumed      int    `json:"handshakes_resumed_total"`
		Errors       int    `json:"handshake_errors_total"`
		UnknownNames int    `json:"unknown_names_total"`
		ACMEError    string `json:"acme_error"`
	}
}

// figures reads what interests of /_room/stats into at, over TLS.
func (s *secure) figures(t *testing.T, at any) {
	t.Helper()
	unlessStill(t, func() error {
		resp, err := (&http.Client{Transport: s.transport(t, false)}).Get(s.URL + "/_room/stats")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(at)
	})
}

func (s *secure) stats(t *testing.T) (f tlsFigures) {
	t.Helper()
	s.figures(t, &f)
	return f
}

// served is the certificate that Concert shows now.
func (s *secure) served(t *testing.T) string {
	t.Helper()
	c, err := tls.Dial("tcp", s.Addr, &tls.Config{RootCAs: s.ca.Pool(), ServerName: siteName})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}
