package blackbox

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestFleetForms has two instances share what they know over every form of
// CONCERT_REDIS_URL that docs/redis.md has.
func TestFleetForms(t *testing.T) {
	t.Parallel()
	tlsURL, authority := redisOverTLS(t)
	socket := filepath.Join(t.TempDir(), "redis.sock")
	redistest.Start(t, "--unixsocket", socket)
	for form, url := range map[string]string{
		"tls":       tlsURL,
		"socket":    "unix://" + socket,
		"sentinels": redistest.StartGroup(t).URL(),
		"cluster":   redistest.StartCluster(t, "concert:{concert}").URL(),
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			env := []string{
				"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret, "CONCERT_REDIS_URL=" + url, "SSL_CERT_FILE=" + authority,
			}
			a := run(t, env, "-upstream", "http://"+o.Addr(), "-instance", "a")
			b := run(t, env, "-upstream", "http://"+o.Addr(), "-instance", "b")
			rawtest.Until(t, "each knows of the other", func() bool {
				text := admin(t, b, http.MethodGet, "/_room/stats", "", 200)
				return strings.Contains(text, `"redis":"up"`) && strings.Count(text, `"silent_ms"`) == 2
			})
			admin(t, a, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.7","duration":"1h","note":"x"}`, 200)
			rawtest.Until(t, "a ban is in force on the other instance", func() bool { return get(t, b, "203.0.113.7", "/").Status() == "429" })
		})
	}
	t.Run("a certificate of a stranger", func(t *testing.T) {
		t.Parallel()
		p := run(t, []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret, "CONCERT_REDIS_URL=" + tlsURL},
			"-upstream", "http://"+newOrigin(t).Addr())
		if text := admin(t, p, http.MethodGet, "/_room/stats", "", 200); !strings.Contains(text, `"redis":"away"`) {
			t.Errorf("it is trusted: %s", text)
		}
		rawtest.Until(t, "the log says why", func() bool { return strings.Contains(p.Stderr(), "certificate") })
		if strings.Contains(p.Stderr(), "a-long-password") {
			t.Error("the log has the password")
		}
	})
}

// redisOverTLS runs a server that has a user with a password, and a certificate
// of an authority, whose file it returns.
func redisOverTLS(t *testing.T) (url, authority string) {
	t.Helper()
	ca, dir := certtest.New(t), t.TempDir()
	cert, key := ca.Issue(t, certtest.Names("127.0.0.1")).Write(t, dir, "redis")
	authority = filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(authority, ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(parts.Port(t))
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", authority,
		"--tls-auth-clients", "no", "--user", "concert", "on", ">a-long-password", "~*", "&*", "+@all")
	return "rediss://concert:a-long-password@127.0.0.1:" + port + "/0", authority
}
