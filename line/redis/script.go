package redisline

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/redis/rueidis"
)

//go:embed script/*.lua
var scripts embed.FS

// script is the one script of the line. It runs as a function, which Redis
// keeps ready, and where there are none, as before Redis 7, by its digest. Its
// name holds its digest, so that instances of several versions can work side by
// side as long as they agree on what is stored.
type script struct {
	name    string // of the function
	library string
	eval    *rueidis.Lua
}

// newScript reads the script, in the order of its files.
func newScript() *script {
	files, err := scripts.ReadDir("script")
	if err != nil {
		panic("redisline: BUG: the script is not embedded: " + err.Error())
	}
	var b strings.Builder
	for _, f := range files {
		text, err := scripts.ReadFile(path.Join("script", f.Name()))
		if err != nil {
			panic("redisline: BUG: " + err.Error())
		}
		b.Write(text)
	}
	source := b.String()
	sum := sha256.Sum256([]byte(source))
	name := "concert_" + hex.EncodeToString(sum[:8])
	return &script{
		name: name,
		library: "#!lua name=" + name + "\nlocal KEYS, ARGV\n" + source +
			"redis.register_function('" + name + "', function(keys, args) KEYS, ARGV = keys, args return F.main() end)\n",
		eval: rueidis.NewLuaScript("local KEYS, ARGV = KEYS, ARGV\n" + source + "return F.main()\n"),
	}
}

// run calls the script, and has the server load it where it is missing. A call
// that finds no script has done nothing, so it can be made again.
func (s *script) run(ctx context.Context, c rueidis.Client, keys, args []string) ([]rueidis.RedisMessage, error) {
	call := func() ([]rueidis.RedisMessage, error) {
		return c.Do(ctx, c.B().Fcall().Function(s.name).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()).ToArray()
	}
	got, err := call()
	answer, ok := rueidis.IsRedisErr(err)
	switch {
	case !ok:
		return got, err
	case strings.Contains(answer.Error(), "unknown command"):
		return s.eval.Exec(ctx, c, keys, args).ToArray()
	case !strings.Contains(answer.Error(), "Function not found"):
		return nil, err
	}
	if err := s.load(ctx, c); err != nil {
		return nil, err
	}
	return call()
}

// load puts the script on every server that takes it: replicas do not, and get
// it from where they copy everything.
func (s *script) load(ctx context.Context, c rueidis.Client) error {
	var failed error
	loaded := false
	for addr, node := range c.Nodes() {
		err := node.Do(ctx, node.B().FunctionLoad().Replace().FunctionCode(s.library).Build()).Error()
		if err == nil {
			loaded = true
		} else {
			failed = fmt.Errorf("load the script on %s: %w", addr, err)
		}
	}
	if loaded {
		return nil
	}
	return failed
}
