package redisline

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/line"
)

// reply is an answer of the script, as the end of F.main has it.
type reply struct {
	room string // what the room is
	seq  uint64 // the state of it
	busy bool   // somebody waits
	lent int    // slots that are lent with it
	next int64  // nanoseconds to the next event; negative: there is none
	mail []string
	body body
}

func readReply(got []rueidis.RedisMessage) reply {
	r := reply{body: make(body, 0, 12)}
	if all, err := got[7].ToArray(); err == nil {
		for k := range all {
			text, _ := all[k].ToString()
			r.body = append(r.body, text)
		}
	}
	r.room, _ = got[1].ToString()
	seq, _ := got[2].ToString()
	r.seq, _ = strconv.ParseUint(seq, 10, 64)
	busy, _ := got[3].AsInt64()
	lent, _ := got[4].AsInt64()
	r.busy, r.lent = busy == 1, int(lent)
	next, _ := got[5].ToString()
	r.next, _ = strconv.ParseInt(next, 10, 64)
	r.mail, _ = got[6].AsStrSlice()
	return r
}

// takeIn takes in what comes with an answer to a call that was sent at a time.
func (l *Line) takeIn(now, sent time.Time, r *reply) {
	l.answers.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.room != l.room {
		l.room, l.seq, l.share.busySeq = r.room, 0, 0
	}
	l.seq = max(l.seq, r.seq)
	if sent.After(l.heard) {
		l.heard = sent
	}
	s := &l.share
	if r.seq >= s.busySeq {
		s.busy, s.busySeq = r.busy, r.seq
	}
	s.lease += r.lent
	s.next = time.Time{}
	if r.next >= 0 {
		s.next = now.Add(time.Duration(r.next))
		l.nudge(s.next)
	}
	for _, m := range r.mail {
		l.readMail(now, m)
	}
}

// readMail takes in one piece of mail: its number, the stand, and A for admitted,
// S for spent or L for lost from the door. Called with mu held.
func (l *Line) readMail(now time.Time, m string) {
	number, rest, _ := strings.Cut(m, " ")
	id, verdict, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n <= l.mailSeen {
		return
	}
	l.mailSeen = n
	l.nudge(now.Add(confirmAfter))
	st := l.stands[id]
	switch {
	case st == nil && verdict == "A": // nobody is there any more
		l.unwanted(now)
	case st == nil:
	case verdict == "A":
		st.conclude(l.admitted(now, st.number))
	case verdict == "L": // this instance was thought to be gone
		st.known = true
		go l.bringBack(context.Background(), now, st) // ends when it was asked for, or Redis fails
	default:
		st.conclude(line.Decision{Verdict: line.Spent})
	}
}
