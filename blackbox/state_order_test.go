package blackbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// killed is a Concert that was killed with twelve waiting, and started again.
// None of them is in its snapshot.
type killed struct {
	t    *testing.T
	o    *origin
	p    *launch.Process
	all  []*visitor
	seen int // requests at the origin before

	again time.Time // when it was started again
}

// kill makes one. Their tickets are in the journal, or not even there when
// Concert was killed at once. On a slow machine a snapshot may come between,
// which is every ten seconds: then it is done once more.
func kill(t *testing.T, written bool, args ...string) *killed {
	args = append(args, "-cap", "1", "-max-queue", "0")
	for range 10 {
		k := &killed{t: t, o: newOrigin(t)}
		dir := dataDir(t)
		p := startIn(t, dir, k.o.Addr(), args...)
		rawtest.Until(t, "the first snapshot is saved", func() bool { return read(t, dir, "queue.journal") != "" })
		k.o.fill(t, p, 1)
		k.all = crowd(t, p, 12)
		saved := func() bool { return strings.Contains(read(t, dir, "queue.snapshot"), "created_at") }
		if written {
			rawtest.Until(t, "the tickets are on disk", func() bool {
				return saved() || strings.Count(read(t, dir, "queue.journal"), `"put"`) == len(k.all)
			})
		}
		p.Kill()
		k.o.letGo()
		if !saved() {
			return k.startAgain(dir, args)
		}
	}
	t.Fatal("each time the snapshot held the tickets, so the test saw nothing")
	return nil
}

// startAgain has all visitors know the new Concert.
func (k *killed) startAgain(dir string, args []string) *killed {
	k.seen = len(k.o.Requests())
	k.again = time.Now()
	k.p = startIn(k.t, dir, k.o.Addr(), args...)
	for _, v := range k.all {
		v.base = k.p.URL
	}
	return k
}

// order are the paths at the origin since the kill.
func (k *killed) order() []string {
	var paths []string
	for _, line := range k.o.lines()[k.seen:] {
		paths = append(paths, strings.Fields(line)[1])
	}
	return paths
}

// inTime kills, and repeats an attempt that failed while the machine kept visitors
// from asking as soon as they would: nobody awaits them for ever. What fails
// within the time in which they are awaited is a failure.
func inTime(t *testing.T, kill func() *killed, attempt func(*killed) error) {
	t.Helper()
	const awaited, attempts = 1500 * time.Millisecond, 10
	for range attempts {
		k := kill()
		err := attempt(k)
		took := time.Since(k.again)
		if err == nil {
			return
		}
		if took < awaited {
			t.Fatal(err)
		}
		t.Logf("once more, as it took %v", took)
	}
	t.Fatalf("%d times it took longer than anybody is awaited, so the test saw nothing", attempts)
}

// TestKillKeepsTheOrderOfAdmissions: those whose tickets are younger than the
// last snapshot are let in as they came, though they ask the other way round;
// also when Concert was killed before it could write down any of them.
// Invariant 2.
func TestKillKeepsTheOrderOfAdmissions(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]bool{"written": true, "not written": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTime(t, func() *killed { return kill(t, written) }, askBackwards)
		})
	}
}

// askBackwards has the last ask first, each once the others stand at the door.
func askBackwards(k *killed) error {
	var want []string
	var answers []<-chan answer
	for i, v := range slices.Backward(k.all) {
		before := stats(k.t, k.p).AtDoor
		answers = append(answers, later(func() answer { return v.page("/v" + itoa(i+1)) }))
		if i > 0 {
			rawtest.Until(k.t, "one more stands at the door, or is let in", func() bool {
				return stats(k.t, k.p).AtDoor > before || len(k.order()) > 0
			})
		}
		want = append(want, "/v"+itoa(len(k.all)-i))
	}
	err := allLetIn(answers)
	if got := k.order(); err == nil && !slices.Equal(got, want) {
		return fmt.Errorf("invariant 2: let in as\n%v\nwant\n%v", got, want)
	}
	return err
}

// allLetIn waits for all answers, and says if one is not the site's.
func allLetIn(answers []<-chan answer) error {
	var err error
	for i, a := range answers {
		if a := <-a; !a.isOrigin() && err == nil {
			err = fmt.Errorf("number %d is not let in: status %d", i+1, a.status)
		}
	}
	return err
}

// TestKillKeepsTheOrderWithoutADoor: the same where nobody can stand at the
// door, and who asks out of turn gets the waiting page. Invariant 2.
func TestKillKeepsTheOrderWithoutADoor(t *testing.T) {
	t.Parallel()
	inTime(t, func() *killed { return kill(t, true, "-door-max", "0") }, comeBackwards)
}

// comeBackwards has everybody but the first look at the waiting page, the last
// first, and then everybody wait until they are let in.
func comeBackwards(k *killed) error {
	defer k.o.openAll()
	for i, v := range slices.Backward(k.all[1:]) {
		first := later(func() answer { return v.page("/hold/v" + itoa(i+2)) })
		rawtest.Until(k.t, "the page, or a visit to the origin", func() bool { return len(first) > 0 || len(k.order()) > 0 })
		if len(k.order()) > 0 {
			return fmt.Errorf("invariant 2: visitor %d is let in first", i+2)
		}
		if a := <-first; !a.isWaitingPage() {
			return fmt.Errorf("visitor %d gets status %d", i+2, a.status)
		}
	}
	var answers []<-chan answer
	for i, v := range k.all {
		answers = append(answers, later(func() answer {
			for range 30 {
				if a := v.page("/hold/v" + itoa(i+1)); a.isOrigin() {
					return a
				}
				v.awaitTurn()
			}
			return answer{}
		}))
	}
	rawtest.Until(k.t, "somebody is at the origin", func() bool { return len(k.order()) > 0 })
	first := k.order()[0]
	k.o.openAll()
	if err := allLetIn(answers); err != nil || first == "/hold/v1" {
		return err
	}
	return fmt.Errorf("invariant 2: let in first is %s", first)
}
