package priority

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// marking is a table of newest grants and the marks that were worth keeping.
type marking struct {
	stage *Stage
	marks []Mark
	now   time.Time
}

func (m *marking) grant(rank pipeline.Rank, ttl time.Duration) grant {
	g := grant{pass: [16]byte{7}, rank: rank, issued: m.now.UnixMilli(), expires: m.now.Add(ttl).Unix()}
	if mark, worth := m.stage.newest.issue(&g, m.now.Unix()); worth {
		m.marks = append(m.marks, mark)
	}
	m.now = m.now.Add(time.Minute)
	return g
}

// restart forgets everything but the marks.
func (m *marking) restart() {
	m.stage = &Stage{}
	m.stage.Restore(m.marks, m.now)
}

// TestOldGrantsStayOutdatedAfterARestart: an older grant of a higher rank counts
// for nothing, whatever was renewed before it was lowered.
func TestOldGrantsStayOutdatedAfterARestart(t *testing.T) {
	m := &marking{stage: &Stage{}, now: time.Unix(1_800_000_000, 0)}
	first := m.grant(pipeline.Customer, 8*time.Hour)
	var last grant
	for range 200 { // renewed with every page
		last = m.grant(pipeline.Customer, 8*time.Hour)
	}
	if len(m.marks) < 2 || len(m.marks) > 6 {
		t.Errorf("%d marks for 200 renewals in 200 minutes, want one an hour", len(m.marks))
	}
	m.restart()
	if !m.stage.newest.allows(&last) {
		t.Error("the newest grant is outdated after a restart")
	}
	lowered := m.grant(pipeline.Member, time.Minute)
	for _, again := range []bool{false, true} {
		m.restart()
		if m.stage.newest.allows(&first) || m.stage.newest.allows(&last) {
			t.Errorf("lowered, a grant of before counts after a restart (again: %v)", again)
		}
		if !m.stage.newest.allows(&lowered) {
			t.Error("the newest grant is outdated")
		}
		m.marks = m.stage.Marks(m.now) // as the file is written anew
	}
	m.now = time.Unix(last.expires-1, 0)
	m.restart()
	if m.stage.newest.allows(&last) {
		t.Error("a grant that is still in force is remembered no longer")
	}
	m.now = m.now.Add(2*markSlack + 8*time.Hour)
	m.restart()
	if got := m.stage.Marks(m.now); len(got) != 0 {
		t.Errorf("marks %+v are kept for ever", got)
	}
}

// Marks may come in any order, and twice.
func TestMarksInAnyOrder(t *testing.T) {
	m := &marking{stage: &Stage{}, now: time.Unix(1_800_000_000, 0)}
	high := m.grant(pipeline.Staff, time.Hour)
	m.grant(pipeline.Guest, time.Hour)
	m.marks = append(m.marks, m.marks[0], m.marks[1], m.marks[0])
	m.restart()
	if m.stage.newest.allows(&high) {
		t.Error("an older mark counts more than a newer one")
	}
}
