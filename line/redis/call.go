package redisline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/line"
)

// request is one call of the script.
type request struct {
	op        string
	args      []string
	surrender bool // give back all slots that are not in use
	surplus   bool // all of them when somebody waits, or what is too much
	give      int  // slots given back beside those
}

// body is what the operation answers.
type body []string

func (b body) num(k int) int64 {
	if k >= len(b) {
		return 0
	}
	n, _ := strconv.ParseInt(b[k], 10, 64) // the script writes nothing else
	return n
}

// verdict is the first word, "" for none.
func (b body) verdict() string {
	if len(b) == 0 {
		return ""
	}
	return b[0]
}

// errBehind says that the instance must synchronize first.
var errBehind = errors.New("out of step with the room")

// call runs the script. If Redis wants the instance to synchronize, that is
// done, and the call tried once more.
func (l *Line) call(ctx context.Context, now time.Time, r request) (body, error) {
	for range 3 {
		b, err := l.once(ctx, now, r)
		if !errors.Is(err, errBehind) {
			return b, err
		}
		if err := l.synchronize(ctx, now); err != nil {
			return nil, err
		}
	}
	return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", r.op, errBehind))
}

func (l *Line) once(ctx context.Context, now time.Time, r request) (body, error) {
	l.calls.RLock()
	defer l.calls.RUnlock()
	l.mu.Lock()
	back := r.give
	switch {
	case r.surrender, r.surplus && l.share.busy:
		back += l.share.spare()
	case r.surplus:
		back += l.share.surplus(l.base())
	}
	args := l.head(now, r.op, l.share.report(back, l.moment(now)))
	l.mu.Unlock()
	return l.exec(ctx, now, append(args, r.args...))
}

// head is the arguments that every call has. Called with mu and calls held.
func (l *Line) head(now time.Time, op, report string) []string {
	at := ""
	if l.opt.Given {
		at = strconv.FormatInt(now.Unix(), 10) + " " + strconv.Itoa(now.Nanosecond())
	}
	return []string{
		op, l.me, strconv.FormatUint(l.era, 10), l.room, strconv.FormatUint(l.seq, 10), at,
		report, strconv.FormatUint(l.mailSeen, 10),
	}
}

// exec sends a call and takes in what comes with the answer. A caller that goes
// away does not end it, as it would be unknown then what it did.
func (l *Line) exec(ctx context.Context, now time.Time, args []string) (body, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	client, err := l.opt.Conn.Client()
	if err != nil {
		return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", args[0], err))
	}
	sent := l.clock(now)
	l.ops.Add(1)
	got, err := l.script.run(ctx, client, l.keys, args)
	if err != nil {
		if context.Cause(ctx) == errSilent {
			err = errSilent
		}
		return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", args[0], err))
	}
	status, err := got[0].ToString()
	if err != nil {
		return nil, l.failed(now, fmt.Errorf("redis line: %s: read the answer: %w", args[0], err))
	}
	if status != "OK" {
		return nil, errBehind
	}
	return l.takeIn(now, sent, got)
}

// errSilent is why a call failed that was ended early.
var errSilent = errors.New("nothing is heard of redis")

// limit is the time that a call has: CallTimeout, or half of it if no other call
// was answered meanwhile. When this process itself was held up, so that it looks
// late, it does not conclude anything from that.
func (l *Line) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := l.opt.Conn.CallTimeout
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	ctx, cancel := context.WithCancelCause(ctx)
	before := l.answers.Load()
	early := time.Now().Add(timeout / 2)
	look := time.AfterFunc(timeout/2, func() { // ends with the call
		if l.answers.Load() == before && time.Since(early) < timeout/8 {
			cancel(errSilent)
		}
	})
	return ctx, func() {
		look.Stop()
		cancel(nil)
		stop()
	}
}

// takeIn reads an answer: room, state, whether somebody waits, slots lent, the
// next event, mail, and the body.
func (l *Line) takeIn(now, sent time.Time, got []rueidis.RedisMessage) (body, error) {
	l.answers.Add(1)
	b := make(body, 0, 12)
	if all, err := got[7].ToArray(); err == nil {
		for k := range all {
			text, _ := all[k].ToString()
			b = append(b, text)
		}
	}
	room, _ := got[1].ToString()
	seqText, _ := got[2].ToString()
	seq, _ := strconv.ParseUint(seqText, 10, 64)
	busy, _ := got[3].AsInt64()
	lent, _ := got[4].AsInt64()
	nextText, _ := got[5].ToString()
	next, _ := strconv.ParseInt(nextText, 10, 64)
	mail, _ := got[6].AsStrSlice()

	l.mu.Lock()
	defer l.mu.Unlock()
	if room != l.room {
		l.room, l.seq, l.share.busySeq = room, 0, 0
	}
	l.seq = max(l.seq, seq)
	if sent.After(l.heard) {
		l.heard = sent
	}
	s := &l.share
	if seq >= s.busySeq {
		s.busy, s.busySeq = busy == 1, seq
	}
	s.lease += int(lent)
	s.next = time.Time{}
	if next >= 0 {
		s.next = now.Add(time.Duration(next))
		l.nudge(s.next)
	}
	for _, m := range mail {
		l.read(now, m)
	}
	return b, nil
}

// read takes in one piece of mail: its number, the stand, and A for admitted,
// S for spent or L for lost from the door. Called with mu held.
func (l *Line) read(now time.Time, m string) {
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

// synchronize tells Redis what this instance holds, and ends everything that
// may still be under way from before.
func (l *Line) synchronize(ctx context.Context, now time.Time) error {
	l.calls.Lock()
	defer l.calls.Unlock()
	l.era = max(l.era+1, uint64(time.Now().UnixMicro()))
	l.mu.Lock()
	s := &l.share
	lease := s.used
	if l.mayClaim(now) {
		lease = max(lease, s.lease)
	}
	s.lease = lease
	flags := ""
	if l.opt.Returning {
		flags = "RH"
	}
	if l.outage.issued > 0 {
		flags += "O"
	}
	ids := make([]string, 0, len(l.stands))
	for id := range l.stands {
		ids = append(ids, id)
	}
	used := s.used
	args := append(l.head(now, "sync", s.report(0, l.moment(now))), strconv.Itoa(lease), strconv.Itoa(used),
		strconv.Itoa(max(1, len(l.latest.alive))), strconv.FormatUint(l.highest, 10), flags, l.digest, strings.Join(ids, " "))
	args = append(args, settingArgs(l.set)...)
	l.mu.Unlock()
	lost, err := l.exec(ctx, now, args)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range lost {
		if st := l.stands[id]; st != nil {
			st.known = false
		}
	}
	if !l.outage.down { // otherwise the end of the outage sees to them
		if lost := l.strangers(); len(lost) > 0 {
			go l.bringAllBack(now, lost) // ends when each was asked for, or Redis fails
		}
	}
	return nil
}
