package persist

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBansForm(t *testing.T) {
	path := t.TempDir()
	var text strings.Builder
	if err := writeBans(&text, sampleBans(), []asideEntry{{[]byte(`{"x":1}`), "why"}}, epoch()); err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"saved":"2026-11-30T12:00:00Z",
"clients":[
{"client":"192.0.2.1","since":"2026-11-30T12:00:00Z","permanent":true,"offenses":3,"cause":"operator","by":"ops"},
{"client":"192.0.2.2","since":"2026-11-30T12:00:00Z","until":"2026-11-30T12:01:00Z","offenses":2,"cause":"forged-pass"},
{"client":"2001:db8:1:2::/64","since":"2026-11-30T12:00:00Z","until":"2026-11-30T12:01:00Z","offenses":1,"cause":"ban-path","note":"/.env"}],
"ranges":[
{"client":"10.0.0.0/8","since":"2026-11-30T12:00:00Z","until":"2026-11-30T13:00:00Z","offenses":1,"cause":"operator","note":"a \"note\"\n\u003cb\u003e","by":"ops"},
{"client":"2001:db8::/32","since":"2026-11-30T12:00:00Z","permanent":true,"offenses":1,"cause":"operator","by":"ops"}],
"aside":[
{"entry":{"x":1},"why":"why"}],
`
	got, sum, _ := strings.Cut(text.String(), `"sum"`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(sum) != len(`:"01234567"}`)+1 {
		t.Errorf("sum %q", sum)
	}
	put(t, path, BansName, text.String())
	_, saved, warnings := openBans(t, openDir(t, path))
	wantBans(t, saved, sampleBans())
	if len(warnings) != 1 || !strings.Contains(warnings[0], `{\"x\":1}`) {
		t.Errorf("warnings %q", warnings)
	}
}

// A file of the least form is read: whoever wrote it.
func TestPlainBansAreRead(t *testing.T) {
	path := t.TempDir()
	put(t, path, BansName, `{"version":1,"saved":"2026-01-01T00:00:00Z","clients":[
		{"client":"192.0.2.1","permanent":true,"offenses":1},
		{"client":"2001:db8::5/64","until":"2026-11-30T12:00:00Z","offenses":2}],"ranges":[]}`)
	_, saved, warnings := openBans(t, openDir(t, path))
	wantBans(t, saved, []Ban{
		{Client: prefix("192.0.2.1/32"), Offenses: 1},
		{Client: prefix("2001:db8::/64"), Until: epoch(), Offenses: 2},
	})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "edited or damaged") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestDamagedBansAreAnError(t *testing.T) {
	var good strings.Builder
	if err := writeBans(&good, sampleBans(), nil, epoch()); err != nil {
		t.Fatal(err)
	}
	tests := damages(good.String())
	tests["no ranges"] = `{"version":1,"clients":[]}`
	tests["clients of another shape"] = `{"version":1,"clients":{},"ranges":[]}`
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, BansName, text)
			_, _, _, err := openDir(t, path).Bans()
			wantError(t, err, filepath.Join(path, BansName), "correct the file, or move it away")
			if got := get(t, path, BansName); got != text {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

// One entry that cannot be read is reported, has no effect, and outlives every
// save; corrected, it counts again.
func TestBadEntriesAreCarriedAlong(t *testing.T) {
	path := t.TempDir()
	put(t, path, BansName, `{"version":1,"clients":[
		{"client":"192.0.2.300","permanent":true,"offenses":1},
		{"client":"192.0.2.1","offenses":1},
		{"client":"192.0.2.2","permanent":true,"until":"2026-11-30T12:00:00Z","offenses":1},
		{"client":"192.0.2.3","permanent":true,"offenses":-1},
		{"client":"192.0.2.4","permanent":true,"offenses":"many"},
		17,
		{"client":"192.0.2.5","permanent":true,"offenses":1}],"ranges":[]}`)
	d := openDir(t, path)
	for round := range 2 {
		r := newRegistry(t, d)
		_, saved, warnings := openBans(t, d)
		wantBans(t, saved, []Ban{{Client: prefix("192.0.2.5/32"), Offenses: 1}})
		if n := len(warnings) + round; n != 7 { // the first time the sum is missing, too
			t.Errorf("round %d: warnings %q", round, warnings)
		}
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, BansName, strings.Replace(get(t, path, BansName), "192.0.2.300", "192.0.2.30", 1))
	_, saved, _ := openBans(t, d)
	wantBans(t, saved, []Ban{{Client: prefix("192.0.2.5/32"), Offenses: 1}, {Client: prefix("192.0.2.30/32"), Offenses: 1}})
}
