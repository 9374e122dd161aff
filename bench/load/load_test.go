package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/parts"
)

// TestProcessorTimeGrowsWithWork of this process.
func TestProcessorTimeGrowsWithWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads Linux's clocks")
	}
	used := func() time.Duration {
		d, err := ProcessorTime(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for before := used(); used() < before+20*ms; { // asking is work enough
	}
	if _, err := ProcessorTime(1<<22 + 1); err == nil {
		t.Error("a process that cannot be has used time")
	}
}

func TestListenerIsFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if pid, err := Listener(ln.Addr().String()); pid != os.Getpid() || err != nil {
		t.Errorf("process %d, %v; want %d", pid, err, os.Getpid())
	}
}

func TestComparisonsAreOfTheSameRound(t *testing.T) {
	base := Row{Samples: []Sample{{CPU: 10, P50: ms}, {CPU: 100, P50: 10 * ms}, {CPU: 1000, P50: 100 * ms}}}
	row := Row{Samples: []Sample{{CPU: 5, P50: 4 * ms}, {CPU: 70, P50: 11 * ms}, {CPU: 900, P50: 102 * ms}}}
	if median, low, high := ratio(row, base); median != 0.7 || low != 0.5 || high != 0.9 {
		t.Errorf("ratio %v, %v, %v", median, low, high)
	}
	if median, low, high := added(row, base); median != 2 || low != 1 || high != 3 {
		t.Errorf("added %v, %v, %v", median, low, high)
	}
}

const ms = time.Millisecond

// play has this process take a role.
func play(t *testing.T, role string, size int, upstream string) (addr string) {
	t.Helper()
	r, w := io.Pipe()
	go func() { w.CloseWithError(Play(role, w, size, upstream)) }() // ends with the test's process
	addr, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

func TestCrowdMeetsEveryRole(t *testing.T) {
	const size = 300
	origin := play(t, roleOrigin, size, "")
	for _, addr := range []string{origin, play(t, roleHTTPUtil, size, "http://"+origin), play(t, roleStatic, size, "")} {
		c, err := meet(t.Context(), addr, 2, size)
		if err != nil {
			t.Fatal(err)
		}
		if latencies, err := c.spend(10 * ms); len(latencies) < 2 || err != nil {
			t.Errorf("%d answers, %v", len(latencies), err)
		}
		if latencies, err := c.pace(1000, 20*ms); len(latencies) != 20 || err != nil {
			t.Errorf("paced: %d answers, %v; want 20", len(latencies), err)
		}
		c.leave()
	}
	if err := Play("nobody", io.Discard, size, ""); err == nil {
		t.Error("an unknown role is played")
	}
	if _, err := meet(t.Context(), origin, 1, size+1); err == nil || !strings.Contains(err.Error(), "of 300 bytes") {
		t.Errorf("a page of another size: %v", err)
	}
}

// TestPaceCountsFromTheSchedule has a target that answers nobody for a while:
// all that were to be sent meanwhile must show it, not only the one that was.
func TestPaceCountsFromTheSchedule(t *testing.T) {
	const stall, rate, slice = 50 * ms, 1000, 100 * ms
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		once.Do(func() { <-time.After(stall) })
	}))
	defer server.Close()
	c, err := dial(t.Context(), strings.TrimPrefix(server.URL, "http://"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.leave()
	c.clients[0].requests = [][]byte{[]byte(pageRequest + "\r\n")}
	latencies, err := c.pace(rate, slice)
	if err != nil || len(latencies) != 100 {
		t.Fatalf("%d answers, %v", len(latencies), err)
	}
	// Of the 50 that were due during the stall, half waited for at least half of it.
	if got := latencies[len(latencies)-25]; got < stall/2 {
		t.Errorf("the 25th longest wait is %v: the stall is hidden", got)
	}
}

func TestOtherAnswersAreErrors(t *testing.T) {
	const length = "\r\nContent-Length: 2\r\n\r\nok"
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK" + length: "", "HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\nok": "",
		"HTTP/1.1 429 Too Many" + length: "429", "HTTP/1.1 200 OK\r\n\r\n": "no length", "200\r\n": "200",
		"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n": "length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok": "body",
	} {
		v := &client{r: bufio.NewReader(strings.NewReader(answer)), status: []byte("200")}
		if err := v.receive(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

func TestReportsAreTables(t *testing.T) {
	row := func(name string, cpu time.Duration) Row {
		return Row{Name: name, Samples: []Sample{{Requests: 1, Rate: 10, CPU: cpu, P50: cpu, P99: 2 * cpu}}}
	}
	rows := []Row{row("base", 40*time.Microsecond), row("Concert", 30*time.Microsecond)}
	for want, report := range map[string]fmt.Stringer{
		"| Concert | 30.0 | 0.75 (0.75–0.75) | 10 | 0.03 | 0.06 |\n":   &PagesReport{Rows: rows},
		"| Concert | 0.030 | -0.010 (-0.010–-0.010) | 0.06 | 30.0 |\n": &PacedReport{Rows: rows},
		"| 40.0 | 30.0 | 0.75 (0.75–0.75) | 1.00 (1.00–1.00) |\n":      &AnswersReport{Answers: []Answer{{"status poll", 88, append(rows, rows[1])}}},
	} {
		if got := report.String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s\nwant it to end with %s", got, want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	bad := Settings{Rounds: 0, Slice: time.Hour, Connections: -1, Size: 0, Rate: -3, Waiting: 2e6}
	for _, measure := range []func(context.Context, Settings) error{
		func(ctx context.Context, s Settings) error { _, err := Pages(ctx, s); return err },
		func(ctx context.Context, s Settings) error { _, err := Paced(ctx, s); return err },
		func(ctx context.Context, s Settings) error { _, err := Answers(ctx, s); return err },
	} {
		err := measure(t.Context(), bad)
		for _, want := range []string{"rounds 0", "connections -1", "size 0", "slice 1h", "rate -3", "waiting 2000000"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v does not mention %q", err, want)
			}
		}
	}
}

// TestContestantsProxy has each that is installed carry a page.
func TestContestantsProxy(t *testing.T) {
	const size = 300
	origin := play(t, roleOrigin, size, "")
	for _, c := range Contestants() {
		t.Run(c.Program, func(t *testing.T) {
			parts.Program(t, c.Program)
			p, err := c.start(t.Context(), t.TempDir(), origin)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.kill)
			if pid, err := Listener(p.addr); pid != p.pid() || err != nil {
				t.Errorf("process %d listens, %v; want the one started, %d", pid, err, p.pid())
			}
			crowd, err := meet(t.Context(), p.addr, 2, size)
			if err != nil {
				t.Fatal(err)
			}
			crowd.leave()
		})
	}
}
