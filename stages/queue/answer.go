package queue

import (
	"net/http"
	"strconv"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// answerWaiting tells the sender of a page request its place.
func (s *settings) answerWaiting(q *visit) (pipeline.Verdict, error) {
	if s.churns(q) {
		q.Strike(pipeline.StrikeChurn)
	}
	if s.cfg.Placed != nil {
		s.cfg.Placed(q.Visit, q.decision.Place.Ticket)
	}
	if q.caller == program {
		q.SetFields(private)
		s.setQueued(q)
		s.sendJSON(q)
	} else {
		s.sendPage(q)
	}
	return pipeline.Answered, nil
}

// setQueued sets what every queued answer has, whatever its form.
func (s *settings) setQueued(q *visit) {
	p := &q.decision.Place
	setPlace(q.Visit, p)
	value := ""
	if p.Ticket == q.brought {
		value = q.value
	}
	s.setCookies(q.Visit, p.Ticket, value)
	letGo(q.Visit, p.PollAfter)
}

// sendPage sends the waiting page.
func (s *settings) sendPage(q *visit) {
	s.counters.pages.Add(1)
	buf, body := s.renderPage(q)
	s.send(q.Visit, s.cfg.StatusCode, buf, body)
}

// renderPage sets the waiting page's header and writes its body. It stands apart
// so that what it needs of the stack is free again when the page is sent.
func (s *settings) renderPage(q *visit) (buf *[]byte, body []byte) {
	p := &q.decision.Place
	if s.cfg.StatusCode >= http.StatusBadRequest {
		q.W.Header()["Retry-After"] = pipeline.Number(int(max(page.Seconds(p.PollAfter), 1)))
	}
	values := page.Values{Position: p.Position, Ahead: p.Ahead, ETA: p.ETA, PollAfter: p.PollAfter, Joined: p.Ticket.Issued, SkipURL: s.skipURL(p.Ticket)}
	if p.Fresh && !q.twin.known() && isLocal(q.R.RequestURI) {
		values.Back = q.R.RequestURI // nothing of ours came with the request: perhaps nothing ever will
	}
	d := s.begin(q.Visit, s.page)
	s.setQueued(q)
	return s.render(d, values)
}

// sendJSON tells a program how to keep its place and when to ask again.
func (s *settings) sendJSON(q *visit) {
	p := &q.decision.Place
	s.counters.answers.Add(1)
	h := q.W.Header()
	h["Content-Type"] = jsonType
	h["Retry-After"] = s.retry
	buf, b := s.buffer()
	b = append(b, s.hint...)
	b = append(b, s.retry[0]...)
	b = append(b, s.statusURL...)
	if q.R.Method != http.MethodGet {
		b = append(b, `,"submitted":false`...)
	}
	b = append(b, `,"position":`...)
	b = strconv.AppendInt(b, int64(max(p.Position, 1)), 10)
	b = appendOutlook(b, p)
	s.send(q.Visit, http.StatusTooManyRequests, buf, append(b, "}\n"...))
}

// appendOutlook appends what is known of the way ahead, as JSON members behind
// others. What is zero or cannot be told is left out.
func appendOutlook(b []byte, p *line.Place) []byte {
	if p.Ahead > 0 {
		b = strconv.AppendInt(append(b, `,"ahead":`...), int64(p.Ahead), 10)
	}
	if p.ETA >= 0 {
		b = strconv.AppendInt(append(b, `,"eta_seconds":`...), page.Seconds(p.ETA), 10)
	}
	return strconv.AppendInt(append(b, `,"poll_after_ms":`...), p.PollAfter.Milliseconds(), 10)
}

// churns reports whether a request that took a place counts against its client:
// it brought nothing authentic, or a ticket that was used already and no pass
// from when it was. A ticket that ran out is no offence.
func (s *settings) churns(q *visit) bool {
	switch {
	case q.decision.Place.Ticket.Number == q.entry.Ticket.Number: // it is in line
		return false
	case q.outdated:
		return false
	case q.entry.Ticket.IsZero():
		return !q.twin.known()
	case wasIn(q.Visit):
		return false
	}
	st, err := s.look(q, q.entry.Ticket)
	return err == nil && !st.Known && st.Ended == line.EndedAdmitted
}
