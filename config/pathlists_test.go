package config

import (
	"slices"
	"testing"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestPathTable(t *testing.T) {
	l := mustLoad(t, []string{"-bypass=/ping", "-assets=/css/*,/js/app.js", "-asset-public=/css/og.png", "-stream-paths=/ws"}, nil)
	table, err := l.Config.PathTable()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]pipeline.Class{
		"/ping":        pipeline.Bypass,
		"/css/a.css":   pipeline.Asset,
		"/js/app.js":   pipeline.Asset,
		"/css/og.png":  pipeline.PublicAsset,
		"/ws":          pipeline.Stream,
		"/":            pipeline.Unclassified,
		"/favicon.ico": pipeline.Unclassified,
	} {
		if got, _ := table.Lookup(paths.Canonical(path)); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

func TestPathListsAreJudgedTogether(t *testing.T) {
	got := problemsOf(t,
		[]string{"-bypass=", "-assets=css/*,/shared/*,a:b,/x?y", "-stream-paths=/ws,/shared/*,/ws", "-asset-public=/shared/*"},
		[]string{"CONCERT_BYPASS=/*,/a", "CONCERT_STREAM_PATHS=/_room/ws"})
	const accepted = "want paths that start with /, separated by commas; /* at the end makes a prefix: "
	want := []string{
		`CONCERT_BYPASS "/*,/a": ` + accepted + `"/*" takes every path of the site: list directories, such as /css/*`,
		`-assets "css/*,/shared/*,a:b,/x?y": ` + accepted + `"css/*" has no leading slash: write "/css/*"; "a:b" has no leading slash: write "/a:b"; "/x?y" has a query, and only paths are matched: remove it from the question mark on`,
		`CONCERT_STREAM_PATHS "/_room/ws": ` + accepted + `"/_room/ws" is one of Concert's own paths, which never reach the origin: remove it`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPathInTwoLists(t *testing.T) {
	got := problemsOf(t,
		[]string{"-assets=/shared/*", "-stream-paths=/ws,/ws", "-asset-public=bad"},
		[]string{"CONCERT_BYPASS=/a,/shared/*"})
	const accepted = "want paths that start with /, separated by commas; /* at the end makes a prefix: "
	want := []string{
		`-asset-public "bad": ` + accepted + `"bad" has no leading slash: write "/bad"`,
		`-assets "/shared/*": ` + accepted + `"/shared/*" is also in CONCERT_BYPASS: remove it from one of them`,
		`-stream-paths "/ws,/ws": ` + accepted + `"/ws" is listed twice: remove one of them`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPathTableReportsBadLists(t *testing.T) {
	c := Default()
	c.Assets = []string{"/a", "/favicon.ico"}
	if _, err := c.PathTable(); err == nil {
		t.Error("a path in two lists was accepted")
	}
	if c.Validate() == nil {
		t.Error("a path in two lists passed Validate")
	}
}

func TestBanTable(t *testing.T) {
	l := mustLoad(t, []string{"-ban-paths=/.env,/.git/*,/static/debug.log", "-assets=/static/*", "-asset-public=/.git/logo.png"}, nil)
	table, err := l.Config.BanTable()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/.env": true, "/.ENV": true, "//.env": true, "/./.env": true, "/x/../.env": true, "/.env/": true,
		"/.git": true, "/.git/config": true, "/%2egit/config": true, "/a/..%2f.env": true, "/.env?x": true,
		"/static/debug.log": true, "/static/a.css": false, "/.git/logo.png": false, "/": false, "/env": false, "/.envy": false,
	} {
		if got, _ := table.Lookup(paths.Canonical(path)); got != want {
			t.Errorf("%s is a ban path: %v, want %v", path, got, want)
		}
	}
	classes, err := l.Config.PathTable()
	if err != nil {
		t.Fatal(err)
	}
	if class, listed := classes.Lookup(paths.Canonical("/.env")); listed {
		t.Errorf("a ban path has the class %v; those who may ask for it get a page", class)
	}
	if table, err := Default().BanTable(); table != nil || err != nil {
		t.Errorf("without ban paths: %v, %v", table, err)
	}
}

func TestBanPathsAreJudged(t *testing.T) {
	const accepted = "want paths that start with /, separated by commas; /* at the end makes a prefix: "
	f := func(want string, args ...string) {
		t.Helper()
		if got := problemsOf(t, args, nil); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	f(`-ban-paths ".env": `+accepted+`".env" has no leading slash: write "/.env"`, "-ban-paths=.env")
	f(`-ban-paths "/": `+accepted+`"/" is the site's front page: remove it`, "-ban-paths=/")
	f(`-ban-paths "/.git/*": `+accepted+`"/.git/*" is also in -assets: remove it from one of them`, "-assets=/.git/*", "-ban-paths=/.git/*")
	f(`-ban-paths "/.env": want nothing while -abuse is false: turn the abuse registry on, or remove the paths`, "-abuse=false", "-ban-paths=/.env")
	f(`-abuse-max-cooldown "1m": want at least -abuse-cooldown, 5m: raise it, or lower the other`, "-abuse-max-cooldown=1m")
}
