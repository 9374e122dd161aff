package paths

import (
	"strings"
	"testing"
)

type class string

const (
	page   class = "" // listed nowhere
	bypass class = "bypass"
	asset  class = "asset"
	public class = "public"
	live   class = "stream"
	ban    class = "ban"
)

func lists(m map[string]string) []List[class] {
	out := []List[class]{
		{Name: "-bypass", Value: bypass}, {Name: "-assets", Value: asset}, {Name: "-asset-public", Value: public},
		{Name: "-stream-paths", Value: live}, {Name: "-ban-paths", Value: ban, Strict: true},
	}
	for i := range out {
		out[i].Entries = m[out[i].Name]
	}
	return out
}

func build(t testing.TB, m map[string]string) *Table[class] {
	t.Helper()
	table, err := Build(lists(m)...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// site is the table most tests ask.
func site(t testing.TB) *Table[class] {
	return build(t, map[string]string{
		"-bypass":       "/favicon.ico, /.well-known/acme-challenge/*, /wp-content/ping",
		"-assets":       "/css/*, /wp-content/*, /Mixed/*",
		"-asset-public": "/pub/*",
		"-stream-paths": "/live, /ws/*",
		"-ban-paths":    "/.env, /.git/*, /.DS_Store, /wp-content/debug.log, /old/",
	})
}

// expect asks for the class of each target.
func expect(t *testing.T, table *Table[class], want class, targets ...string) {
	t.Helper()
	for _, target := range targets {
		got, listed := table.Lookup(Canonical(target))
		if got != want || listed != (want != page) {
			t.Errorf("%q is %q (listed: %v), want %q", target, got, listed, want)
		}
	}
}

func TestExactAndPrefix(t *testing.T) {
	s := site(t)
	expect(t, s, bypass, "/favicon.ico", "/favicon.ico?x=1", "/.well-known/acme-challenge/token")
	expect(t, s, asset, "/css/", "/css/a.css", "/css/deep/er/a.css?v=1", "/Mixed/a.css")
	expect(t, s, public, "/pub/a.png")
	expect(t, s, live, "/live", "/ws/", "/ws/chat")
	expect(t, s, ban, "/.env", "/.env?x=1", "/.git/config")
	expect(t, s, page, "/", "/favicon", "/live/", "/live/x", "/CSS/a.css", "/mixed/a.css", "/Favicon.ico")
}

func TestRulesDoNotOverMatch(t *testing.T) {
	expect(t, site(t), page,
		"/.environment", "/.gitignore", "/.github/x", "/cssx/a", "/.well-known/acme-challenge-old/x", "/css", "/x/.env", "/.env/x", "/.en")
}

func TestLongestMatchWins(t *testing.T) {
	s := build(t, map[string]string{
		"-bypass": "/a/b/*, /a/x", "-assets": "/a/*, /a/b/c", "-ban-paths": "/a/b/c/*, /shut/*", "-asset-public": "/shut/open",
	})
	expect(t, s, asset, "/a/y", "/a/b", "/a/b/c")
	expect(t, s, bypass, "/a/x", "/a/b/", "/a/b/d", "/a/b/cc/d")
	expect(t, s, ban, "/a/b/c/", "/a/b/c/d", "/shut/x", "/shut")
	expect(t, s, public, "/shut/open")
	expect(t, s, ban, "/shut//open", "/shut/open;x") // a reading is shut
}

func TestBanPathsInEverySpelling(t *testing.T) {
	expect(t, site(t), ban,
		"/%2eenv", "/%2Eenv", "/.e%6Ev", "//.env", "/./.env", "/a/../.env", "/x//../.env", "///.git/config", "/.git%2fconfig", "/.git%5cconfig",
		`/.git\config`, "/.ENV", "/.env/", "/.Git/config", "/.git", "/.git/", "/.git/../x", "/.ds_store", "/.DS_STORE", "/.env;x", "/.env.",
		"/.env%20", "/.env%00", "/.env%00.png", "/.e%00nv", "/.env%0a", "/.env::$DATA", "/%252eenv", "/%c0%aeenv", "/.env%3Fx", "/.env#x",
		"/css/../.env", "/css/..%2f.env", "/css/..;/.env", "/.git//../config", "/WP-content/Debug.log", "/wp-content//debug.log",
		"/wp-content/debug.log/", "/old", "/old/", "http://evil.example/.env", "/index.php/%2e%2e/.env",
	)
}

func TestQueriesAndFragmentsAreNoPath(t *testing.T) {
	expect(t, site(t), page,
		"/index.php?/favicon.ico", "/index.php%3f/favicon.ico", "/index.php#/favicon.ico", "/search?q=/.env", "/?/css/a.css")
}

// TestNoSpellingGetsALooserClass is the first half of invariant 6.
func TestNoSpellingGetsALooserClass(t *testing.T) {
	expect(t, site(t), page,
		// not the listed file for every origin
		"/favicon.ico;x=1", "/favicon.ico.", "/favicon.ico%00", "/favicon.ico%20", `/favicon.ico\x`, "/favicon.ico%5cx", "//favicon.ico", "/favicon.ico/",
		// out of the listed directory, for some origin
		"/css/../checkout", "/css/%2e%2e/checkout", "/css%2Fa.css", "/pub%2Fa.png", "/pub/..%2fcheckout", "/pub/..%5ccheckout", "/pub/..;/checkout",
		"/pub/%252e%252e/checkout", "/pub/..%c0%afcheckout", "/pub/.%00./checkout", "/pub/.%09./checkout", "/pub/..%20/checkout", `/pub/..\checkout`,
		"//css/a.css", "/;x/css/a.css",
		// in one list for some origin, in another for others
		"/wp-content//ping", "/wp-content/ping;x",
		// in it for all, but written by no honest client
		"/css/../css/a.css", "/css/./a.css", "/css/a%00.css", `/css/a\b.css`,
	)
}

func TestHonestOddPathsKeepTheirClass(t *testing.T) {
	s := site(t)
	expect(t, s, asset, "/%63ss/a.css", "/css/my%20file.css", "/css//a.css", "/css/a;v=2.css", "/css/C%23.css", "/css/a%2Fb.css", "/css/caf%E9.css")
	expect(t, s, page, "/a//b", "/api/exchanges/%2F/amq.direct", "/r/https%3A%2F%2Fexample.com")
}

func TestUnreadablePathsAreInNoList(t *testing.T) {
	expect(t, site(t), page, "*", "", "example.com:443")
	expect(t, &Table[class]{}, page, "/", "/.env", "/a//b")
}

func TestBuildNamesEveryProblem(t *testing.T) {
	_, err := Build(lists(map[string]string{
		"-bypass":       "/*, favicon.ico, /:x, /a/*/b, /a*, /twice, /twice",
		"-assets":       "/queue/status, /_room/*, /_ROOM/stats, /_concert, /queue/*, *, /both/*",
		"-asset-public": "/a//b, /a/../b, /%63ss/*, /c?d, /e;f, /both/*, /both/*",
		"-stream-paths": "/" + strings.Repeat("a", 300) + ", ..",
		"-ban-paths":    ".env, /",
	})...)
	if err == nil {
		t.Fatal("bad lists were accepted")
	}
	for _, want := range []string{
		`-bypass: "/*" takes every path`, `-bypass: "favicon.ico" has no leading slash: write "/favicon.ico"`, `-bypass: "/:x" has a segment starting with a colon`,
		`-bypass: "/a/*/b" has a star`, `-bypass: "/a*" has a star`, `-bypass: "/twice" is listed twice`,
		`-assets: "/queue/status" is one of Concert's own`, `-assets: "/_room/*" is one of`, `-assets: "/_ROOM/stats" is one of`, `-assets: "/_concert" is one of`,
		`-assets: "/queue/*" covers /queue/status`, `-assets: "*" takes every path`,
		`-asset-public: "/a//b" is not in the clean form paths are matched in: write "/a/b"`, `-asset-public: "/a/../b" is not in the clean form paths are matched in: write "/b"`,
		`-asset-public: "/%63ss/*" is not in the clean form paths are matched in: write "/css/*"`, `-asset-public: "/c?d" has a query`,
		`-asset-public: "/e;f" is not in the clean form`, `-asset-public: "/both/*" is also in -assets`,
		`is longer than 255 bytes`, `-stream-paths: ".." has no leading slash`,
		`-ban-paths: ".env" has no leading slash: write "/.env"`, `-ban-paths: "/" is the site's front page`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no problem says %s", want)
		}
	}
	if got, want := strings.Count(err.Error(), "\n")+1, 22; got != want {
		t.Errorf("%d problems, want %d:\n%v", got, want, err)
	}
}

func TestCheckLooksAtOneListByItself(t *testing.T) {
	if err := Check("-assets", "/css/*, ,/js/app.js,/wiki/Special:Search,/Grüße/*"); err != nil {
		t.Error(err)
	}
	if err := Check("-assets", "/css/*,js/*"); err == nil || err.Error() != `-assets: "js/*" has no leading slash: write "/js/*"` {
		t.Errorf("got %v", err)
	}
}

func TestLongestPattern(t *testing.T) {
	exact := "/" + strings.Repeat("a", maxPattern-1)
	prefix := "/" + strings.Repeat("b", maxPattern-3) + "/"
	s := build(t, map[string]string{"-ban-paths": exact + "," + prefix + "*"})
	expect(t, s, ban, exact, exact+"/", strings.ToUpper(exact), strings.ToUpper(exact)+"/", prefix, prefix+"x", strings.ToUpper(prefix)+strings.Repeat("x", 1000))
	expect(t, s, page, exact+"a", exact[1:], strings.ToUpper(exact)+"A", strings.ToUpper(exact)+"//A")
}
