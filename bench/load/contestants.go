package load

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/ports"
)

// Contestant is a proxy that others have made, for comparison.
type Contestant struct {
	Name    string   // as the report shows it
	Program string   // as the system knows it, and Debian's package
	args    []string // of its command line; {dir} is a directory of its own
	config  string   // written to {dir}/config; {dir}, {origin}, {listen} and {port} are filled in
}

// Contestants are the proxies that are looked for on this machine. Each runs
// as one process without logs, with connections kept on both sides.
func Contestants() []Contestant {
	return []Contestant{
		{"nginx, one worker", "nginx", []string{"-p", "{dir}", "-e", "{dir}/error.log", "-c", "{dir}/config"}, nginxConfig},
		{"HAProxy, one thread", "haproxy", []string{"-db", "-f", "{dir}/config"}, haproxyConfig},
		{"Caddy", "caddy", []string{"run", "--adapter", "caddyfile", "--config", "{dir}/config"}, caddyConfig},
	}
}

const nginxConfig = `daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; server_tokens off;
  client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  upstream origin { server {origin}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen {listen};
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`

const haproxyConfig = `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  option forwardfor
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend visitors
  bind {listen}
  http-request set-header X-Forwarded-Proto http
  default_backend site
backend site
  server origin {origin} pool-max-conn 512
`

const caddyConfig = `{
	admin off
	auto_https off
	log default {
		output discard
	}
}
http://:{port} {
	bind 127.0.0.1
	reverse_proxy {origin} {
		transport http {
			keepalive_idle_conns_per_host 512
			compression off
		}
	}
}
`

// start runs the contestant before origin, with what it writes in dir.
func (c *Contestant) start(ctx context.Context, dir, origin string) (*process, error) {
	program, err := exec.LookPath(c.Program)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	// The port is kept until this process ends, which is after the contestant.
	n, _, err := ports.Reserve()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	port := strconv.Itoa(n)
	addr := net.JoinHostPort("127.0.0.1", port)
	fill := strings.NewReplacer("{dir}", dir, "{origin}", origin, "{listen}", addr, "{port}", port).Replace
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(fill(c.config)), 0o600); err != nil {
		return nil, err
	}
	args := make([]string, len(c.args))
	for i, arg := range c.args {
		args[i] = fill(arg)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	errs, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = errs.Close() }() // the program has its own descriptor
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p := &process{cmd: cmd, addr: addr}
	if err := awaitListener(addr); err != nil {
		p.kill()
		said, _ := os.ReadFile(errs.Name())
		return nil, fmt.Errorf("start %s: %w\n%s", c.Name, err, said)
	}
	return p, nil
}

// awaitListener waits until somebody listens on addr.
func awaitListener(addr string) error {
	const tries, pause = 250, 20 * time.Millisecond
	var err error
	for range tries {
		var c net.Conn
		if c, err = net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("nobody listens on %s: %w", addr, err)
}
