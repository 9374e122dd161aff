package redisline

import (
	"net/netip"
	"strconv"

	"github.com/andreimerlescu/concert/line"
)

// This file spells what Go has for the script.

// flag is a letter that is an argument's if it is on.
type flag struct {
	letter byte
	on     bool
}

func flagsOf(all ...flag) string {
	letters := make([]byte, 0, len(all))
	for _, f := range all {
		if f.on {
			letters = append(letters, f.letter)
		}
	}
	return string(letters)
}

// clientArg is a client; "" for none.
func clientArg(client netip.Prefix) string {
	if !client.IsValid() {
		return ""
	}
	return client.String()
}

func ticketArgs(t line.Ticket) (number, issued string) {
	if t.IsZero() {
		return "0", "0"
	}
	return strconv.FormatUint(t.Number, 10), strconv.FormatInt(t.Issued.UnixMilli(), 10)
}

func settingArgs(s line.Settings) []string {
	p := s.Policy
	out := make([]string, 0, 12)
	for _, v := range []int64{
		int64(p.Cap), int64(p.Inflow), int64(p.Interval), int64(p.Burst), int64(s.Mode), int64(s.MaxWaiting),
		int64(s.PerClient), int64(s.RankLead), int64(s.TTL), int64(s.FirstPollGrace), int64(s.DoorMax), int64(s.DoorWait),
	} {
		out = append(out, strconv.FormatInt(v, 10))
	}
	return out
}
