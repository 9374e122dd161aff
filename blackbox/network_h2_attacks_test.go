package blackbox

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// honest has an honest client ask for pages until the attack is over, at least
// 20 times, and returns how long each took. All must succeed, save that one may be
// asked for again that took as long as a standstill that Concert minds.
func honest(t *testing.T, p *secure, over <-chan struct{}) (took []time.Duration) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(bystander)}}
	client := &http.Client{Timeout: rawtest.Patience, Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		},
	}}
	defer client.CloseIdleConnections()
	pace := time.NewTicker(2 * time.Millisecond) // a visitor, not a load test
	defer pace.Stop()
	for n, stood := 0, 0; ; n++ {
		<-pace.C
		select {
		case <-over:
			if n >= 20 {
				return took
			}
		default:
		}
		began := time.Now()
		err := askHonestly(client, p.Addr)
		spent := time.Since(began)
		switch {
		case err == nil:
			took, stood = append(took, spent), 0
		case spent < slowTime || stood == 5:
			t.Errorf("an honest client, after %v: %v", spent, err)
			return took
		default:
			stood++
		}
	}
}

// slowTime is how long Concert under attack waits for what does not come.
const slowTime = time.Second

// askHonestly asks for a page over HTTP/2.
func askHonestly(client *http.Client, address string) error {
	resp, err := client.Get("https://" + address + "/")
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.ProtoMajor != 2 || !strings.Contains(string(body), originMark) {
		return fmt.Errorf("%s, %s, error %v", resp.Proto, resp.Status, err)
	}
	return nil
}

// newListeningOrigin holds requests for /hold until it is told that nobody waits
// for them any more.
func newListeningOrigin(t *testing.T) *rawtest.Origin {
	return rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if _, err := x.ReadBody(); err == nil && !strings.Contains(x.Request.Line, " /hold") {
			x.Write(okPage(x.Request))
			return
		}
		x.AwaitEnd()
		x.Close()
	})
}

// TestHTTP2Attacks: whatever a client does with frames, it harms itself only.
func TestHTTP2Attacks(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(t *testing.T, p *secure){
		"rapid resets":                 attackByResets,
		"resets of pages under way":    attackByHeldResets,
		"endless CONTINUATION":         attackByContinuation,
		"zero windows":                 attackByZeroWindows,
		"oversized headers":            attackByHeaders,
		"floods of control frames":     attackByControlFrames,
		"floods nobody reads":          attackUnread,
		"bodies that drip":             attackByDripping,
		"header blocks left open":      attackByOpenHeaders,
		"connections that say nothing": attackBySilence,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startSecure(t, newListeningOrigin(t).Addr(), "-body-timeout", slowTime.String(), "-write-timeout", slowTime.String(), "-idle-timeout", "2s", "-read-header-timeout", "2s")
			over := make(chan struct{})
			var took []time.Duration
			var bystanders sync.WaitGroup
			bystanders.Go(func() { took = honest(t, p, over) })
			attack(t, p)
			close(over)
			bystanders.Wait()
			if len(took) == 0 {
				return
			}
			slices.Sort(took)
			t.Logf("%d honest requests meanwhile: median %v, 99 of 100 within %v", len(took), took[len(took)/2], took[len(took)*99/100])
			rawtest.Until(t, "nothing is left of it", func() bool { return p.stats(t).Occupancy == 0 })
		})
	}
}

func attackByResets(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true)
	for range 50_000 {
		if c.open("GET", "/", true) != nil || c.frames.WriteRSTStream(c.stream, http2.ErrCodeCancel) != nil {
			break
		}
	}
	<-c.ended
	var s struct {
		Resets  int            `json:"connections_reset_total"`
		Strikes map[string]int `json:"strikes"`
	}
	p.figures(t, &s)
	c.mu.Lock()
	defer c.mu.Unlock()
	// Whoever comes first: net/http, which sees many waiting, or the count.
	calm := c.goAway != nil && c.goAway.ErrCode == http2.ErrCodeEnhanceYourCalm
	if !calm && (s.Resets != 1 || s.Strikes["resets"] != 1) {
		t.Errorf("50000 requests taken back, and nobody minds: GOAWAY %v, %+v", c.goAway, s)
	}
	t.Logf("closed by net/http: %v", calm)
}

// attackByHeldResets takes back only requests that are at the origin already,
// which net/http does not mind. A connection that is silent for long is closed
// for that instead.
func attackByHeldResets(t *testing.T, p *secure) {
	unlessStill(t, func() error {
		takeBackHeld(t, p)
		var s struct {
			Resets  int            `json:"connections_reset_total"`
			Strikes map[string]int `json:"strikes"`
		}
		p.figures(t, &s)
		if s.Resets != 1 || s.Strikes["resets"] != 1 {
			return fmt.Errorf("closed, and counted as %+v", s)
		}
		return nil
	})
}

// takeBackHeld goes on until the connection is closed.
func takeBackHeld(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true)
	for round := 1; ; round++ {
		first := c.next()
		for range 50 {
			if c.open("GET", "/hold", true) != nil {
				break
			}
		}
		var at tlsFigures
		rawtest.Until(t, "they are at the origin, or the connection is closed", func() bool {
			at = p.stats(t)
			return at.Occupancy >= 50 || c.isOver()
		})
		for id := first; id <= c.stream; id += 2 {
			_ = c.frames.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		rawtest.Until(t, "they have left", func() bool { return p.stats(t).Occupancy < 50 })
		if c.isOver() {
			break
		}
		if round > 20 {
			t.Fatal("a thousand pages taken back on one connection, and nobody minds")
		}
	}
}

func attackByContinuation(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true)
	_ = c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: nil, EndStream: true})
	c.block.Reset()
	for i := range 100 {
		_ = c.hpack.WriteField(hpack.HeaderField{Name: fmt.Sprintf("x-%d", i), Value: strings.Repeat("v", 100), Sensitive: true})
	}
	piece, sent := c.block.Bytes(), 0
	for ; sent < 20_000; sent++ {
		if c.raw2(http2.FrameContinuation, 0, 1, piece) != nil {
			break
		}
	}
	<-c.ended
	// Of 200 MB; what the kernel's buffers on both sides hold was taken by nobody.
	if bytes := sent * len(piece); bytes > 24<<20 {
		t.Errorf("%d bytes of one header were taken", bytes)
	}
}

func attackByZeroWindows(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for range 100 {
		if err := c.open("GET", "/", true); err != nil {
			t.Fatal(err)
		}
	}
	rawtest.Until(t, "the streams are given up", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n := 0
		for _, k := range c.resets {
			n += k
		}
		return n == 100
	})
}

func attackByHeaders(t *testing.T, p *secure) {
	for range 5 {
		c := dialFrames(t, p.Addr, true)
		c.block.Reset()
		for i := range 100 {
			_ = c.hpack.WriteField(hpack.HeaderField{Name: fmt.Sprintf("x-%d", i), Value: strings.Repeat("v", 2000)})
		}
		block := c.block.Bytes()
		_ = c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:16<<10], EndStream: true})
		for block = block[16<<10:]; len(block) > 0; {
			n := min(len(block), 16<<10)
			if c.frames.WriteContinuation(1, n == len(block), block[:n]) != nil {
				break
			}
			block = block[n:]
		}
		rawtest.Until(t, "it is refused", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.isOver() || c.goAway != nil || c.seen[http2.FrameHeaders]+c.seen[http2.FrameRSTStream] > 0
		})
	}
}

func attackByControlFrames(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true)
	if err := c.open("POST", "/hold", false); err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		_ = c.frames.WritePing(false, [8]byte{byte(i)})
		_ = c.frames.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
		_ = c.frames.WriteWindowUpdate(0, 1)
		_ = c.frames.WritePriority(c.stream, http2.PriorityParam{Weight: uint8(i)})
		if c.raw2(http2.FrameData, 0, c.stream, nil) != nil {
			break
		}
	}
	_ = c.frames.WriteRSTStream(c.stream, http2.ErrCodeCancel)
}
