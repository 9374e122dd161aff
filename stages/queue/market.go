package queue

import (
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// Market sells places nearer the front of the line.
type Market interface {
	// Price is what a place costs with depth tickets in line, and what places
	// of them cost together; both 0 when nothing is for sale.
	Price(places, depth int) (each, total float64)
	// AppendRef appends the reference by which a place can be paid for.
	AppendRef(dst []byte, t line.Ticket) []byte
}

// appendMarket appends what it costs to go to the front, or that the visitor
// need not pay, as JSON members behind others.
func (s *settings) appendMarket(b []byte, v *pipeline.Visit, p line.Place, depth int) []byte {
	if s.cfg.Market == nil {
		return b
	}
	if v.VIP {
		return append(b, `,"has_pass":true`...)
	}
	each, total := s.cfg.Market.Price(p.Ahead, depth)
	if total > 0 {
		b = strconv.AppendFloat(append(b, `,"skip_cost":`...), total, 'f', -1, 64)
	}
	if each > 0 {
		b = strconv.AppendFloat(append(b, `,"rate_per_pos":`...), each, 'f', -1, 64)
	}
	return b
}

// skipURL is where the place of a ticket can be paid for: Config.SkipURL with
// the ticket's reference in its query.
func (s *settings) skipURL(t line.Ticket) string {
	if s.cfg.SkipURL == "" || s.cfg.Market == nil {
		return s.cfg.SkipURL
	}
	var buf [512]byte
	address, fragment, _ := strings.Cut(s.cfg.SkipURL, "#")
	b := append(buf[:0], address...)
	if strings.Contains(address, "?") {
		b = append(b, "&ref="...)
	} else {
		b = append(b, "?ref="...)
	}
	b = s.cfg.Market.AppendRef(b, t)
	if fragment != "" {
		b = append(append(b, '#'), fragment...)
	}
	return string(b)
}
