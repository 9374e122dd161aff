package persist

import (
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	path := t.TempDir()
	put(t, path, auditName, `{"at":"2026-11-30T11:00:00Z","who":"ops","what":"ban"}`+"\nnonsense\n"+`{"at":"2026-11-30T11:00`)
	d := openDir(t, path)
	act := Act{At: epoch(), By: By{"token", "192.0.2.1"}, What: "settings", Changes: []ActChange{{"cap", "5", "6"}}}
	if err := d.Audit(act); err != nil {
		t.Fatal(err)
	}
	want := "nonsense\n" + `{"at":"2026-11-30T11:00` + "\n" +
		`{"at":"2026-11-30T12:00:00Z","who":"token","client":"192.0.2.1","what":"settings","changes":[{"key":"cap","from":"5","to":"6"}]}` + "\n"
	if got := get(t, path, auditName); !strings.HasSuffix(got, want) {
		t.Errorf("file\n%s", got)
	}
	acts := d.Acts(9)
	if len(acts) != 2 || acts[0].Who != "token" || acts[1].Who != "ops" || len(d.Acts(1)) != 1 {
		t.Errorf("acts %+v", acts)
	}
}

// Whatever stands in the file, the acts that can be read are, and the next one
// is added to what is there.
func FuzzAudit(f *testing.F) {
	f.Add(`{"at":"2026-11-30T11:00:00Z","who":"ops","what":"ban"}` + "\n" + "nonsense\n")
	f.Add(`{"at":5}`)
	f.Fuzz(func(t *testing.T, text string) {
		path := t.TempDir()
		put(t, path, auditName, text)
		d := openDir(t, path)
		before := len(d.Acts(auditKept))
		if err := d.Audit(Act{At: epoch(), By: By{Who: "token"}, What: "cap"}); err != nil {
			t.Fatal(err)
		}
		acts := d.Acts(1)
		if len(acts) != 1 || acts[0].What != "cap" || len(d.Acts(auditKept)) != min(before+1, auditKept) {
			t.Errorf("%+v", acts)
		}
		if got := get(t, path, auditName); !strings.HasPrefix(got, text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestAuditIsBounded(t *testing.T) {
	path := t.TempDir()
	put(t, path, auditName, strings.Repeat("x", auditRotate+1)+"\n")
	d := openDir(t, path)
	for range auditKept + 10 {
		if err := d.Audit(Act{At: epoch(), What: "cap"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.Acts(10_000)); n != auditKept {
		t.Errorf("%d acts in memory", n)
	}
	if n := len(get(t, path, auditName+".1")); n < auditRotate {
		t.Errorf("%d bytes in the file before", n)
	}
	if n := len(get(t, path, auditName)); n > 100*auditKept {
		t.Errorf("%d bytes in the file", n)
	}
}
