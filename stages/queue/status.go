package queue

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// The answers that are the same for everyone.
const (
	answerReady   = `{"ready":true}`
	answerCookies = `{"ready":false,"cookies_required":true}`
)

// enterStatus answers StatusPath.
func (s *settings) enterStatus(v *pipeline.Visit) (pipeline.Verdict, error) {
	switch v.R.Method {
	case http.MethodGet, http.MethodHead:
		return pipeline.Answered, s.status(v)
	case http.MethodOptions:
		return answerOptions(v, allowsStatus)
	}
	v.W.Header()["Allow"] = allowsStatus
	return pipeline.Answered, wrongMethod
}

// answerOptions says which methods an endpoint takes, and nothing to other
// sites: these endpoints are not for them.
func answerOptions(v *pipeline.Visit, allow []string) (pipeline.Verdict, error) {
	v.SetFields(private)
	v.W.Header()["Allow"] = allow
	v.W.WriteHeader(http.StatusNoContent)
	return pipeline.Answered, nil
}

// status tells a visitor the place of their ticket. A ticket that is not in
// line, for whatever reason, is told to come: the page request that follows
// sorts it out.
func (s *settings) status(v *pipeline.Visit) error {
	now := s.cfg.Now()
	brought := false
	for value := range cookies.Each(v.R.Header, s.ticketCookie) {
		brought = true
		t, authentic := s.parseTicket(value)
		if !authentic {
			continue
		}
		st, err := s.cfg.Line.Poll(v.R.Context(), now, t)
		if err != nil {
			return fmt.Errorf("queue: poll for ticket %d: %w", t.Number, err)
		}
		if st.Known {
			s.sendStatus(v, now, st, value)
			return nil
		}
	}
	if brought {
		s.sendFixed(v, answerReady)
	} else {
		s.sendFixed(v, answerCookies)
	}
	return nil
}

func (s *settings) sendFixed(v *pipeline.Visit, text string) {
	setStatusHeader(v)
	buf, b := s.buffer()
	s.send(v, http.StatusOK, buf, append(b, text...))
}

func setStatusHeader(v *pipeline.Visit) {
	v.SetFields(private)
	v.W.Header()["Content-Type"] = jsonType
}

// sendStatus answers with the status of a ticket in line, which came as value.
func (s *settings) sendStatus(v *pipeline.Visit, now time.Time, st line.Status, value string) {
	s.counters.polls.Add(1)
	if st.Ready {
		s.sendFixed(v, answerReady)
		return
	}
	t := st.Place.Ticket
	since, remembered := s.polls.since(now, t)
	if remembered && since < minPollGap {
		s.sendHasty(v, st.Place)
		return
	}
	if !remembered {
		since = st.Place.SinceSeen
	}
	s.polls.answered(now, t)
	setStatusHeader(v)
	if s.renews(now, t, since) {
		s.setCookies(v, t, value)
	}
	letGo(v, st.Place.PollAfter)
	buf, b := s.buffer()
	s.send(v, http.StatusOK, buf, s.appendStatus(b, v, now, st.Place))
}

// sendHasty answers somebody who asked a moment ago.
func (s *settings) sendHasty(v *pipeline.Visit, p line.Place) {
	s.counters.hasty.Add(1)
	setStatusHeader(v)
	v.W.Header()["Retry-After"] = pipeline.Number(1)
	buf, b := s.buffer()
	b = appendPosition(b, p)
	s.send(v, http.StatusTooManyRequests, buf, append(b, '}'))
}

// appendStatus appends the JSON of a ticket that waits. What is zero is left
// out.
func (s *settings) appendStatus(b []byte, v *pipeline.Visit, now time.Time, p line.Place) []byte {
	b = appendPosition(b, p)
	u, paused, depth := s.utilization.read(now, s.cfg.Line)
	if u >= 0.001 {
		b = strconv.AppendFloat(append(b, `,"utilization":`...), u, 'f', 3, 64)
	}
	b = appendOutlook(b, &p)
	if !paused { // nothing is sold that cannot be had
		b = s.appendMarket(b, v, p, depth)
	}
	b = append(b, `,"state":"`...)
	b = append(append(b, stateName(p.State)...), '"')
	if why := s.reason(v.R.URL.RawQuery, p, paused); why != "" {
		b = append(append(append(b, `,"reason":"`...), why...), '"')
	}
	if s.messages.any {
		b = append(b, s.messages.members[pipeline.LanguageOf(v.R)]...)
	}
	return append(b, '}')
}

// appendPosition begins the JSON of a ticket that is not ready.
func appendPosition(b []byte, p line.Place) []byte {
	return strconv.AppendInt(append(b, `{"ready":false,"position":`...), int64(max(p.Position, 1)), 10)
}

func stateName(st line.State) string {
	switch st {
	case line.StateCalled:
		return "called"
	case line.StateDoor:
		return "door"
	case line.StateAbsent:
		return "absent"
	}
	return "waiting"
}
