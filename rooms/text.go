package rooms

import (
	"encoding/json"

	"github.com/andreimerlescu/concert/line"
)

// wire is a room as Parse takes it. What has its default is left out.
type wire struct {
	ID       string   `json:"id"`
	Name     string   `json:"name,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	Cap      int      `json:"cap"`
	Inflow   int      `json:"inflow,omitempty"`
	Interval string   `json:"inflow_interval,omitempty"`
	Burst    int      `json:"inflow_burst,omitempty"`
	MaxQueue *int     `json:"max_queue,omitempty"`
	Mode     string   `json:"room,omitempty"`
	Message  string   `json:"message,omitempty"`
	Level    string   `json:"message_level,omitempty"`
	HTML     string   `json:"html,omitempty"`
}

// String gives the list as Parse takes it; "" for none.
func (s *Set) String() string {
	if s.Empty() {
		return ""
	}
	list := make([]wire, len(s.rooms))
	for i := range s.rooms {
		list[i] = s.rooms[i].wire()
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("BUG: rooms are no JSON: " + err.Error())
	}
	return string(text)
}

func (r *Room) wire() wire {
	w := wire{
		ID: r.ID, Name: r.Name, Hosts: r.Hosts, Paths: r.Paths, Cap: r.Cap,
		Inflow: r.Inflow, Burst: r.Burst, Message: r.Message, HTML: r.HTML,
	}
	if r.Interval != DefaultInterval {
		w.Interval = r.Interval.String()
	}
	if r.MaxQueue != Inherit {
		w.MaxQueue = &r.MaxQueue
	}
	if r.Mode != line.Open {
		w.Mode = r.Mode.String()
	}
	if r.Warning {
		w.Level = "warning"
	}
	return w
}
