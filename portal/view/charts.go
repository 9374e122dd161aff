package view

import "time"

// chart is one of the drawings of the overview, for the script: which series it
// has, and what they count.
type chart struct{ ID, Title, Lines, Unit string }

var charts = []chart{
	{"inflight", "In flight against cap", "in_flight:in flight|cap:cap", ""},
	{"waiting", "Visitors in line", "waiting:waiting", ""},
	{"admissions", "Admissions per second", "admissions:admitted", "/s"},
	{"wait", "Time until let in", "wait_p50:median|wait_p95:95 %", "ms"},
	{"origin", "Origin’s response time", "origin_p50:median|origin_p95:95 %", "ms"},
	{"refused", "Refusals per second, by reason", "refused", "/s"},
}

// digested is a row of the table that stands for the charts.
type digested struct {
	At     time.Time
	Values []string
}

// digestStep is what a row of the table covers.
const digestStep = 5 * time.Minute

// digest takes series into rows of five minutes each, the latest first: means
// of what is a level, and the largest of what is a time.
func digest(s Series) []digested {
	var rows []digested
	for end := len(s.At); end > 0; {
		begin := end
		for begin > 0 && s.At[end-1]-s.At[begin-1] < digestStep.Milliseconds() {
			begin--
		}
		row := digested{At: time.UnixMilli(s.At[end-1])}
		for _, level := range [][]float64{s.InFlight, s.Cap, s.Waiting} {
			row.Values = append(row.Values, number(int(mean(level[begin:end])+0.5)))
		}
		row.Values = append(row.Values, rate(mean(s.Admissions[begin:end])))
		for _, times := range [][]float64{s.WaitP50, s.WaitP95, s.OriginP50, s.OriginP95} {
			row.Values = append(row.Values, milliseconds(largest(times[begin:end])))
		}
		refused := 0.0
		for _, of := range s.Refused {
			refused += mean(of[begin:end])
		}
		rows = append(rows, digested{row.At, append(row.Values, rate(refused))})
		end = begin
	}
	return rows
}

// mean leaves out what was not measured.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if v >= 0 {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func largest(values []float64) float64 {
	most := -1.0
	for _, v := range values {
		most = max(most, v)
	}
	return most
}
