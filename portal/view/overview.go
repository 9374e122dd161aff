package view

// OverviewPage is the first tab.
type OverviewPage struct {
	Groups []CounterGroup
	Series Series // the last hour
}

// CounterGroup is counters that belong together, such as those of the assets.
type CounterGroup struct {
	Title    string
	Counters []Counter
}

// Counter is one number with its name.
type Counter struct {
	Name  string // the key in GET /api/overview, for the script to update it by
	Label string // in words
	Value float64
	Unit  string // ms, /s, %; "" for a plain number
	Bad   bool   // worth a look when it is not zero
}

// Series are measurements taken every few seconds, oldest first. All slices but
// those of Refused are as long as At. A value of -1 was not measured.
type Series struct {
	StepMS     int64     `json:"step_ms"` // between two measurements
	At         []int64   `json:"at"`      // Unix milliseconds
	InFlight   []float64 `json:"in_flight"`
	Cap        []float64 `json:"cap"`
	Waiting    []float64 `json:"waiting"`    // visitors in line
	Admissions []float64 `json:"admissions"` // per second
	WaitP50    []float64 `json:"wait_p50"`   // milliseconds
	WaitP95    []float64 `json:"wait_p95"`
	OriginP50  []float64 `json:"origin_p50"`
	OriginP95  []float64 `json:"origin_p95"`
	// Refused are refusals per second by the code of their reason, each as long
	// as At. Reasons that never came up are left out.
	Refused map[string][]float64 `json:"refused"`
}
