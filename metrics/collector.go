package metrics

import (
	"net/http"
	"strconv"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Row is one metric without labels: a number read when somebody scrapes.
type Row struct {
	Name  string // without the concert_ prefix; counters end in _total
	Help  string
	Type  prometheus.ValueType
	Value func() float64
}

// Labelled is a family of numbers that differ in one label.
type Labelled struct {
	Name, Help, Label string
	Type              prometheus.ValueType
	// Read calls yield once for each label value.
	Read func(yield func(label string, value float64))
}

// Sources is what a Collector shows.
type Sources struct {
	Rows     []Row
	Labelled []Labelled
	Requests *Observer
}

// Collector reads the sources at scrape time. It implements
// prometheus.Collector.
type Collector struct {
	rows     []described[Row]
	labelled []described[Labelled]
	requests *Observer
	byClass  *prometheus.Desc
	gone     *prometheus.Desc
	wait     *prometheus.Desc
	origin   *prometheus.Desc
}

type described[T any] struct {
	desc *prometheus.Desc
	what T
}

var _ prometheus.Collector = (*Collector)(nil)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("concert_"+name, help, labels, nil)
}

// NewCollector prepares a collector.
func NewCollector(s Sources) *Collector {
	c := &Collector{
		requests: s.Requests,
		byClass:  describe("requests_total", "Finished requests by class and by hundreds of the status.", "class", "code"),
		gone:     describe("client_gone_total", "Clients that left before an answer could be sent."),
		wait:     describe("wait_seconds", "Time until a page visit was let in."),
		origin:   describe("origin_latency_seconds", "Time to the origin's response header."),
	}
	for _, r := range s.Rows {
		c.rows = append(c.rows, described[Row]{describe(r.Name, r.Help), r})
	}
	for _, l := range s.Labelled {
		c.labelled = append(c.labelled, described[Labelled]{describe(l.Name, l.Help, l.Label), l})
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, r := range c.rows {
		ch <- r.desc
	}
	for _, l := range c.labelled {
		ch <- l.desc
	}
	ch <- c.byClass
	ch <- c.gone
	ch <- c.wait
	ch <- c.origin
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, r := range c.rows {
		ch <- prometheus.MustNewConstMetric(r.desc, r.what.Type, r.what.Value())
	}
	for _, l := range c.labelled {
		l.what.Read(func(label string, value float64) {
			ch <- prometheus.MustNewConstMetric(l.desc, l.what.Type, value, label)
		})
	}
	for class := range c.requests.requests {
		for hundreds := range c.requests.requests[class] {
			if n := c.requests.requests[class][hundreds].Load(); n > 0 {
				ch <- prometheus.MustNewConstMetric(c.byClass, prometheus.CounterValue, float64(n),
					pipeline.Class(class).String(), strconv.Itoa(hundreds)+"xx")
			}
		}
	}
	ch <- prometheus.MustNewConstMetric(c.gone, prometheus.CounterValue, float64(c.requests.gone.Load()))
	ch <- c.requests.Wait.metric(c.wait)
	ch <- c.requests.Origin.metric(c.origin)
}

// Handler serves the collector, and the Go runtime's own metrics, in the
// Prometheus text format.
func Handler(c *Collector) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}
