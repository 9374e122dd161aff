package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// note is a record of the tests: the latest text of a key counts.
type note struct {
	Key  int    `json:"key"`
	Text string `json:"text"`
}

// notes are what a file of them holds.
type notes struct {
	texts map[int]string
	file  *Records
}

func openNotes(t testing.TB, d *Dir) (n *notes, warning string) {
	t.Helper()
	n, warning, err := readNotes(d)
	if err != nil {
		t.Fatal(err)
	}
	return n, warning
}

func readNotes(d *Dir) (n *notes, warning string, err error) {
	n = &notes{texts: map[int]string{}}
	n.file, warning, err = d.Records(RecordsConfig{
		Name: "notes.journal",
		Read: func(text []byte) error {
			var v note
			if err := json.Unmarshal(text, &v); err != nil {
				return err
			}
			if v.Text == "" {
				return errors.New("no text")
			}
			n.texts[v.Key] = v.Text
			return nil
		},
		All: func(emit func(any)) {
			for key, text := range n.texts {
				emit(note{key, text})
			}
		},
	})
	return n, warning, err
}

func (n *notes) add(key int, text string) {
	n.texts[key] = text
	n.file.Add(note{key, text})
}

func TestRecordsAreKept(t *testing.T) {
	d := openDir(t, t.TempDir())
	n, _ := openNotes(t, d)
	for round := range 3 {
		for key := range 4 {
			n.add(key, fmt.Sprint("round ", round))
			if err := n.file.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		again, warning := openNotes(t, d)
		if diff := cmp.Diff(n.texts, again.texts); diff != "" || warning != "" {
			t.Errorf("round %d: %s%s", round, warning, diff)
		}
		n = again
	}
	if err := n.file.Sync(); err != nil {
		t.Error("nothing to do:", err)
	}
	none, _ := openNotes(t, openDir(t, ""))
	none.add(1, "a")
	if err := none.file.Sync(); err != nil {
		t.Error("in memory:", err)
	}
}

// A long file is written anew with what is worth keeping.
func TestLongRecordsAreWrittenAnew(t *testing.T) {
	path := t.TempDir()
	n, _ := openNotes(t, openDir(t, path))
	long := strings.Repeat("x", 1<<15)
	for i := range 100 {
		n.add(i%3, long)
		if err := n.file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if size := len(get(t, path, "notes.journal")); size > recordsLeast+2<<15 || size < 3<<15 {
		t.Errorf("%d bytes for three notes of %d", size, len(long))
	}
}

// recordsText is a good file of three notes, and where each line ends.
func recordsText(t testing.TB) (text string, ends []int) {
	t.Helper()
	path := t.TempDir()
	n, _ := openNotes(t, openDir(t, path))
	ends = append(ends, 0)
	for key := range 3 {
		n.add(key, "text "+fmt.Sprint(key))
		if err := n.file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	text = get(t, path, "notes.journal")
	ends = ends[:0]
	for i, c := range text {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	return text, ends
}

// What is damaged has no effect, is told of and kept; whatever else there is
// counts, and the next write mends the file.
func TestDamagedRecords(t *testing.T) {
	good, ends := recordsText(t)
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"torn":           {good[:len(good)-3], 2},
		"flipped inside": {strings.Replace(good, "text 1", "text 5", 1), 2},
		"no first line":  {good[ends[0]:], 2}, // the first note is taken for it
		"empty":          {"", 0},
		"NUL":            {strings.Repeat("\x00", 4096), 0},
		"NUL at the end": {good + strings.Repeat("\x00", 4096), 3},
		"foreign lines":  {good + sumLine(`{"key":7}`) + sumLine(`[1]`), 3},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, "notes.journal", c.text)
			d := openDir(t, path)
			n, warning := openNotes(t, d)
			if len(n.texts) != c.want || !strings.Contains(warning, "kept as notes.journal.bad") {
				t.Errorf("%d notes, want %d; warning %q", len(n.texts), c.want, warning)
			}
			if err := n.file.Sync(); err != nil || get(t, path, "notes.journal.bad") != c.text {
				t.Errorf("not kept: %v", err)
			}
			if _, warning := openNotes(t, d); warning != "" {
				t.Errorf("not mended: %s", warning)
			}
		})
	}
	path := t.TempDir()
	put(t, path, "notes.journal", sumLine(`{"version":2}`))
	_, _, err := readNotes(openDir(t, path))
	wantError(t, err, filepath.Join(path, "notes.journal"), "newer Concert", "move it away")
}

func TestFlippedRecords(t *testing.T) {
	good, ends := recordsText(t)
	want, _ := openNotesOf(t, good)
	for i := range len(good) * 8 {
		bad := []byte(good)
		bad[i/8] ^= 1 << (i % 8)
		n, count := openNotesOf(t, string(bad))
		for key, text := range n {
			if want[key] != text {
				t.Fatalf("bit %d flipped makes note %d %q", i, key, text)
			}
		}
		if count == 0 && len(n) == len(want) {
			t.Fatalf("bit %d flipped shows nothing", i)
		}
	}
	if len(ends) != 4 {
		t.Errorf("%d lines", len(ends))
	}
}

// openNotesOf reads a text, and counts the lines that it cannot.
func openNotesOf(t testing.TB, text string) (texts map[int]string, bad int) {
	t.Helper()
	texts = map[int]string{}
	bad, err := readRecords([]byte(text), func(one []byte) error {
		var v note
		err := json.Unmarshal(one, &v)
		if err == nil {
			texts[v.Key] = v.Text
		}
		return err
	})
	if err != nil {
		bad++
	}
	return texts, bad
}

// Records are on disk within a moment by themselves, and once more at the end;
// what fails is tried again.
func TestRecordsAreWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		d := openDir(t, path)
		n, _ := openNotes(t, d)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.file.Run(ctx) }() // ends with ctx
		n.add(1, "one")
		time.Sleep(recordsBatch + time.Millisecond)
		synctest.Wait()
		if again, _ := openNotes(t, d); again.texts[1] != "one" {
			t.Errorf("after a moment: %v", again.texts)
		}
		n.file.writing.Lock()
		n.file.journal.unsure = true // as after a sync that failed
		n.file.writing.Unlock()
		n.add(2, "two")
		time.Sleep(recordsBatch + time.Millisecond)
		synctest.Wait()
		n.add(3, "three")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if again, warning := openNotes(t, d); len(again.texts) != 3 || warning != "" {
			t.Errorf("at the end: %v %s", again.texts, warning)
		}
		wantNoFaults(t, d)
	})
}

func FuzzRecords(f *testing.F) {
	good, _ := recordsText(f)
	f.Add([]byte(good), false)
	f.Add([]byte(`{"version":1}`+"\n"+`{"key":1,"text":"a"}`+"\n"+`{"key":1}`), true)
	f.Fuzz(func(t *testing.T, text []byte, sum bool) {
		if sum { // let the fuzzer past the sums
			var b bytes.Buffer
			for one := range bytes.SplitSeq(text, []byte("\n")) {
				b.WriteString(sumLine(string(one)))
			}
			text = b.Bytes()
		}
		lines := 0
		bad, err := readRecords(text, func([]byte) error { lines++; return nil })
		if err == nil && lines+bad > bytes.Count(text, []byte("\n"))+2 {
			t.Fatalf("%d good and %d bad lines of %q", lines, bad, text)
		}
	})
}
