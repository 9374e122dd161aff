package ipinfo_test

import (
	"bytes"
	"compress/gzip"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
)

// database is a File in a bubble, with verbs.
type database struct {
	t    *testing.T
	path string
	file *ipinfo.Service
	log  *bytes.Buffer
}

func watchFile(t *testing.T, poll time.Duration, f func(d *database)) {
	path := filepath.Join(t.TempDir(), "ip2asn.tsv")
	synctest.Test(t, func(t *testing.T) {
		log := new(bytes.Buffer)
		s, err := ipinfo.New(ipinfo.Config{Data: path, Poll: poll, Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		f(&database{t, path, s, log})
	})
}

// start runs the service until the test ends.
func (d *database) start() {
	go d.file.Run(d.t.Context())
	synctest.Wait()
}

func (d *database) write(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.path+".new", []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(d.path+".new", d.path); err != nil {
		d.t.Fatal(err)
	}
}

func (d *database) after(wait time.Duration) *database {
	time.Sleep(wait)
	synctest.Wait()
	return d
}

// want checks who owns 1.0.0.1; "" is nobody.
func (d *database) want(owner string) {
	d.t.Helper()
	got, _ := d.file.Lookup(netip.MustParseAddr("1.0.0.1"))
	if got.Description != owner {
		d.t.Errorf("owner %q, want %q", got.Description, owner)
	}
}

func owned(by string) string { return "1.0.0.0\t1.0.0.255\t64496\tLT\t" + by + "\n" }

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// What is half-written or broken never takes the look-ups down, and what
// is good is taken within two polls.
func TestReload(t *testing.T) {
	watchFile(t, time.Second, func(d *database) {
		d.write(owned("first"))
		d.start()
		d.want("first")
		d.write(zipped(owned("cut in the middle"))[:40])
		d.after(5 * time.Second).want("first")
		if st := d.file.Status(); !strings.Contains(st.Error, "EOF") || st.Source != ipinfo.SourceFile {
			t.Errorf("status %+v", st)
		}
		d.write(owned("one bad line") + "x\n")
		d.after(5 * time.Second).want("first")
		d.write(zipped(owned("good again")))
		d.after(2 * time.Second).want("good again")
		if st := d.file.Status(); st.Error != "" || st.Ranges != 1 || st.Loaded.IsZero() {
			t.Errorf("status %+v", st)
		}
		if err := os.Remove(d.path); err != nil {
			t.Fatal(err)
		}
		d.after(3 * time.Minute).want("good again")
		if n := strings.Count(d.log.String(), "WARN"); n != 2 {
			t.Errorf("%d warnings, want one per broken file:\n%s", n, d.log)
		}
	})
}

func TestChangedFileMustSettle(t *testing.T) {
	watchFile(t, 10*time.Second, func(d *database) {
		d.write(owned("old"))
		d.start()
		d.after(time.Second)
		for i := range 10 { // always changed again before a poll has passed
			d.write(owned("being written" + strings.Repeat(".", i)))
			d.after(7 * time.Second).want("old")
		}
		d.after(20 * time.Second).want("being written.........")
	})
}

func TestMissingFileIsRetried(t *testing.T) {
	for _, poll := range []time.Duration{0, 5 * time.Minute} {
		watchFile(t, poll, func(d *database) {
			d.start()
			d.want("")
			if st := d.file.Status(); st.Source != ipinfo.SourceOff || st.Error == "" {
				t.Errorf("status %+v", st)
			}
			d.after(30 * time.Second).write(owned("downloaded"))
			if poll == 0 {
				d.after(31 * time.Second).want("downloaded")
			}
			d.after(10 * time.Minute).want("downloaded")
		})
	}
}

func TestPollOff(t *testing.T) {
	watchFile(t, 0, func(d *database) {
		d.write(owned("old"))
		d.start()
		d.write(owned("replaced"))
		d.after(100 * time.Hour).want("old")
	})
}

func TestNotAFile(t *testing.T) {
	watchFile(t, time.Second, func(d *database) {
		if err := os.Mkdir(d.path, 0o700); err != nil {
			t.Fatal(err)
		}
		d.start()
		if st := d.file.Status(); !strings.Contains(st.Error, "no regular file") {
			t.Errorf("status %+v", st)
		}
	})
}
