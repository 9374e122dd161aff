package blackbox

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// phpSite answers as PHP sees the request.
const phpSite = `<?php
header('X-Powered-By: php');
setcookie('seen', 'yes');
if (isset($_GET['slow'])) { usleep(300000); }
if (isset($_GET['go'])) { header('Location: /elsewhere', true, 302); exit; }
echo "this is the origin\n";
foreach (['REQUEST_METHOD', 'REQUEST_URI', 'HTTP_HOST', 'HTTP_X_FORWARDED_FOR', 'HTTP_X_FORWARDED_PROTO', 'HTTP_COOKIE'] as $k) {
    echo $k, '=', $_SERVER[$k] ?? '', "\n";
}
echo 'posted=', json_encode($_POST), "\n";
`

// TestPHP puts Concert in front of PHP's own server, as the README does.
func TestPHP(t *testing.T) {
	t.Parallel()
	php := parts.Program(t, "php")
	root := t.TempDir()
	for name, text := range map[string]string{"index.php": phpSite, "css/site.css": "body { color: red }"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address := parts.Address(t)
	startProgram(t, address, exec.Command(php, "-S", address, "-t", root))
	p := start(t, address, "-cap", "1", "-assets", "/css/*")

	v := newVisitor(t, p)
	a := v.page("/?q=a%20b")
	for _, want := range []string{"REQUEST_URI=/?q=a%20b", "HTTP_HOST=" + p.Addr, "HTTP_X_FORWARDED_FOR=127.0.0.1", "HTTP_X_FORWARDED_PROTO=http", "HTTP_COOKIE=\n"} {
		if !a.isOrigin() || !strings.Contains(a.body, want) {
			t.Fatalf("status %d, body %q; want it to hold %q", a.status, a.body, want)
		}
	}
	if v.cookie("seen") != "yes" || v.cookie("concert_admit") == "" {
		t.Error("the page's own cookie or the pass did not arrive")
	}
	if a = v.page("/css/site.css"); a.status != 200 || a.body != "body { color: red }" {
		t.Errorf("stylesheet: status %d, body %q", a.status, a.body)
	}
	if a = v.do(http.MethodPost, "/", "text/html", "item=1&n=2"); !strings.Contains(a.body, `posted={"item":"1","n":"2"}`) || !strings.Contains(a.body, "HTTP_COOKIE=seen=yes\n") {
		t.Errorf("form: status %d, body %q", a.status, a.body)
	}
	if a = v.page("/?go=1"); a.status != 302 || a.header.Get("Location") != "/elsewhere" {
		t.Errorf("redirect: status %d to %q", a.status, a.header.Get("Location"))
	}
	// A crowd of slow pages in front of one slot: everyone gets in.
	var crowd []<-chan answer
	for range 5 {
		v := newVisitor(t, p)
		crowd = append(crowd, later(func() answer { return v.comeIn("/?slow=1") }))
	}
	for _, c := range crowd {
		if a := <-c; !a.isOrigin() {
			t.Errorf("in the crowd: status %d", a.status)
		}
	}
}
