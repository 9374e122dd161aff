package priority

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// seat finds a slot for a visit that may use the lane.
func (s *Stage) seat(c *settings, v *pipeline.Visit, form bool) (pipeline.Verdict, error) {
	began := time.Now()
	d, err := ask(c, v, false)
	switch {
	case err != nil:
		return pipeline.Answered, err
	case d.Verdict == line.Admitted:
		return s.seated(c, v, (*pageSlots)(s), uint64(d.Slot), 0)
	}
	st := c.Line.Stats(began)
	if st.Settings.Mode == line.Open {
		s.adjust(c, began, st.Settings.Policy.Cap)
		pass := passKey(v)
		if s.lane.try(pass) {
			return s.seatedInLane(c, v, pass, 0)
		}
		if form || !passing(v.R) && !c.HasPlace(v) {
			verdict, err := s.wait(c, v, form)
			if v.Seated || err != nil {
				return verdict, err
			}
		}
	}
	if form {
		return s.unsent(c, v)
	}
	return pipeline.Next, nil
}

// ask brings the visit before the line, for a slot without a place.
func ask(c *settings, v *pipeline.Visit, mayHold bool) (line.Decision, error) {
	ctx := v.R.Context()
	d, err := c.Line.Enter(ctx, time.Now(), line.Entry{Client: v.Client.Key, NoPlace: true, MayHold: mayHold})
	switch {
	case err == nil:
		return d, nil
	case ctx.Err() != nil:
		return d, clientGone
	}
	return d, fmt.Errorf("priority: enter the line: %w", err)
}

// adjust has the lane follow the configuration and the line's cap.
func (s *Stage) adjust(c *settings, now time.Time, pageCap int) {
	s.lane.adjust(now, LaneSlots(c.Cap, pageCap), c.Wait/2)
}

// LaneSlots is how many slots the lane has: what is configured, or for 0 a
// quarter of the page cap, but at least one.
func LaneSlots(configured, pageCap int) int {
	if configured > 0 {
		return configured
	}
	return max(1, pageCap/4)
}

// passKey names the visit's pass within the lane. Half of a random id is
// enough to tell those in the lane apart.
func passKey(v *pipeline.Visit) uint64 { return binary.LittleEndian.Uint64(v.Pass.ID[:8]) }

// seated notes that the visit holds a page slot.
func (s *Stage) seated(c *settings, v *pipeline.Visit, from pipeline.Releaser, token uint64, wait time.Duration) (pipeline.Verdict, error) {
	v.Hold(from, token)
	v.Seated = true
	c.Admitted(wait)
	return pipeline.Next, nil
}

func (s *Stage) seatedInLane(c *settings, v *pipeline.Visit, pass uint64, wait time.Duration) (pipeline.Verdict, error) {
	s.counters.served.Add(1)
	return s.seated(c, v, s, pass, wait)
}
