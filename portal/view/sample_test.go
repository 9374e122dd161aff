package view

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/persist"
)

// sampleNow is the time at which the samples are looked at.
var sampleNow = time.Date(2026, 3, 14, 2, 58, 40, 0, time.UTC)

// hostile is markup in what strangers control.
const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`

func sampleFrame() Frame {
	return Frame{
		Name: "Café Nord", Version: "1.4.0", CSRF: "0123456789abcdef0123456789abcdef", Now: sampleNow,
		IPInfo: "IP details from ip2asn-combined.tsv.gz, 512,431 ranges, loaded 2h ago",
		Status: Status{Room: "open", InFlight: 47, Cap: 50, Waiting: 10_000, MaxQueue: 20_000, Admissions: 12.4, Bans: 3},
	}
}

func owner(addr, first, last, code, network string, asn uint32) *ipinfo.Details {
	return &ipinfo.Details{
		Addr: netip.MustParseAddr(addr), First: netip.MustParseAddr(first), Last: netip.MustParseAddr(last),
		ASN: asn, Code: code, Description: network,
	}
}

var owners = []*ipinfo.Details{
	owner("203.0.113.9", "203.0.113.0", "203.0.113.255", "LT", "UAB Cherry Servers", 218785),
	owner("198.51.100.77", "198.51.100.0", "198.51.100.127", "DE", "Deutsche Telekom AG", 64500),
	nil,
	owner("2001:db8:7::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "US", "Example Cloud Inc.", 64501),
	owner("192.0.2.44", "192.0.2.0", "192.0.2.255", "None", "Not routed", 0),
}

var agents = []string{
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
	"curl/8.5.0", "", "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0",
}

func sampleQueueRow(position int) QueueRow {
	client := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, byte(position >> 8), byte(position)}), 32)
	r := QueueRow{
		ID: fmt.Sprintf("%016x", uint64(position)*0x9e3779b97f4a7c15), Client: client, Owner: owners[position%len(owners)],
		UserAgent: agents[position%len(agents)], Path: fmt.Sprintf("/tickets/%d?seat=A%d", position%40, position),
		Joined:   sampleNow.Add(-time.Duration(11000-position) * 90 * time.Millisecond),
		LastSeen: sampleNow.Add(-time.Duration(position%13) * time.Second), Position: position,
		Ready: position <= 3, AtDoor: position <= 2, Absent: position%9 == 0, ETA: time.Duration(position) * 80 * time.Millisecond,
	}
	switch position {
	case 3:
		r.Promoted = true
	case 5:
		r.Rank, r.HasPass = "subscriber", true
	case 7:
		r.Client, r.Owner = netip.MustParsePrefix("2001:db8:7::/64"), owners[3]
	case 8:
		r.Path, r.UserAgent = "/"+hostile, hostile
	case 9:
		r.LastSeen = time.Time{}
	}
	return r
}

func sampleQueue(page, size int) QueuePage {
	p := QueuePage{Paging: NewPaging(10_000, page, size)}
	for i := range p.Size {
		p.Rows = append(p.Rows, sampleQueueRow(p.First()+i+1))
	}
	return p
}

func sampleBans() BansPage {
	ban := func(client string, left time.Duration, offenses int, cause, note, by string) BanRow {
		b := &abuse.Ban{Client: netip.MustParsePrefix(client), Since: sampleNow.Add(-time.Hour), Offenses: offenses, Cause: cause, Note: note, By: by}
		if left > 0 {
			b.Until = sampleNow.Add(left)
		}
		return BanRow{Ban: b, Owner: owners[offenses%len(owners)]}
	}
	rows := []BanRow{
		ban("203.0.113.9/32", 0, 4, abuse.CauseOperator, "Card testing, see "+hostile, "operator from 127.0.0.1"),
		ban("198.51.100.0/24", 26*time.Hour, 1, abuse.CauseOperator, "", "operator from 127.0.0.1"),
		ban("2001:db8:7::/64", 4*time.Minute+12*time.Second, 2, abuse.CauseTrap, "/.env", ""),
		ban("192.0.2.44/32", 3*time.Hour+5*time.Minute, 5, "forged-pass", "", ""),
	}
	return BansPage{Paging: NewPaging(len(rows), 1, 25), Rows: rows, Enabled: true, Persisted: true}
}

func sampleBanView(number uint64, state string) history.BanView {
	b := history.BanView{
		Number: number, Target: "203.0.113.9", State: state, Begin: sampleNow.Add(-3 * time.Hour), Source: "ban-path",
		Until: sampleNow.Add(time.Hour), Requests: 1234, Changes: 1,
		Trigger: &history.Trigger{Client: "203.0.113.9", Method: "GET", Path: "/.env" + hostile, Status: 429},
		Paths:   map[string]uint64{"/.env": 800, "/.git/config": 400, "/" + hostile: 34}, Addresses: map[string]uint64{"203.0.113.9": 1234},
		Others: 7,
	}
	switch state {
	case history.StatePermanent:
		b.Until = time.Time{}
	case history.StateLifted:
		b.Lifted, b.LiftedBy = sampleNow.Add(-time.Hour), "operator from 127.0.0.1"
	}
	return b
}

func sampleEntry(i int) history.EntryView {
	e := history.EntryView{
		At: sampleNow.Add(-time.Duration(i) * 7 * time.Second), IP: "203.0.113.9", Method: "GET", Path: fmt.Sprintf("/shop/%d?page=%d", i, i),
		Status: 200, LatencyUS: int64(i) * 91_000, UA: agents[i%len(agents)],
	}
	switch i % 5 {
	case 1:
		e.Status, e.Blocked, e.Ban = 429, true, 12
	case 2:
		e.Status, e.Path, e.Method, e.UA = 404, "/"+hostile, `GET"onx`, hostile
	case 3:
		e.Status, e.Rank, e.Room = 302, "customer", hostile
	}
	return e
}

func sampleClient(i int) history.ClientView {
	newest := sampleEntry(i)
	c := history.ClientView{
		Client: fmt.Sprintf("203.0.113.%d", i), First: sampleNow.Add(-time.Duration(i+1) * time.Hour), Last: sampleNow.Add(-time.Duration(i*i) * time.Second),
		Requests: uint64(i) * 321, Blocked: uint64(i) * 3, Errors: uint64(i % 4), Newest: &newest,
	}
	switch i {
	case 0:
		c.State = history.StatePermanent
	case 1:
		c.State, c.Until = history.StateActive, sampleNow.Add(7*time.Minute)
	case 2:
		c.State = history.StateExpired
	}
	return c
}

func sampleVisitors(open bool) VisitorsPage {
	p := VisitorsPage{Paging: NewPaging(4096, 1, 25), On: true}
	for i := range 25 {
		r := VisitorRow{ClientView: sampleClient(i), Owner: owners[i%len(owners)]}
		if open && i == 1 {
			d := sampleDetail()
			r.Detail = &d
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

func sampleDetail() VisitorDetail {
	d := VisitorDetail{ClientView: sampleClient(1), Paging: NewPaging(100, 1, 25), Owner: owners[0]}
	for i := range 25 {
		d.Entries = append(d.Entries, sampleEntry(i))
	}
	d.UserAgents = []string{agents[0], hostile}
	d.Bans = []history.BanView{sampleBanView(12, history.StateActive), sampleBanView(11, history.StateLifted)}
	return d
}

func sampleBanLog(open bool) BanLogPage {
	p := BanLogPage{Paging: NewPaging(4, 1, 25), On: true}
	for i, state := range []string{history.StatePermanent, history.StateActive, history.StateLifted, history.StateExpired} {
		r := BanLogRow{BanView: sampleBanView(uint64(12-i), state), Owner: owners[i]}
		r.Top = TopPaths(r.Paths, 3)
		if open && i == 0 {
			r.Detail = &BanDetail{BanView: r.BanView, Owner: r.Owner}
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

func sampleActs() []persist.Act {
	return []persist.Act{
		{At: sampleNow.Add(-time.Minute), By: persist.By{Who: "operator", Client: "127.0.0.1"}, What: "settings", Changes: []persist.ActChange{{Key: "cap", From: "434", To: "50"}, {Key: "ban_paths", From: "", To: "/.env"}}},
		{At: sampleNow.Add(-time.Hour), By: persist.By{Who: "operator", Client: "127.0.0.1"}, What: "ban", Note: "203.0.113.9 " + hostile},
	}
}

func sampleSettings() SettingsPage {
	c := config.Default()
	p := SettingsPage{Persisted: true, File: "/var/lib/concert/data/settings.json", Updated: sampleNow.Add(-time.Minute), Undo: true, Changes: sampleActs()[:1],
		Log: []Fact{{"History log", "/var/lib/concert/data/history.jsonl"}, {"IP details", "IPtoASN file"}}}
	for _, group := range config.Groups() {
		g := SettingsGroup{Name: group}
		for _, s := range config.Settings() {
			if s.Group != group {
				continue
			}
			f := Field{Setting: s, Value: s.Text(c), Source: config.FromDefault}
			switch {
			case s.Secret:
				f.Locked = "comes from the environment only"
			case s.Key == "cap":
				f.Value, f.Source = "50", config.FromFile
			case !s.Live:
				f.Locked, f.Source = "is set where the program is started", config.FromFlag
			}
			g.Fields = append(g.Fields, f)
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

// sampleSeries is an hour in which a crowd comes, and the origin slows down.
func sampleSeries() Series {
	s := Series{StepMS: 5000, Refused: map[string][]float64{"queue-full": nil, "banned": nil, "no-pass": nil}}
	for i := range 720 {
		x := float64(i) / 720
		wave := math.Sin(x*40)*0.5 + math.Sin(x*97)*0.3
		load := 1 / (1 + math.Exp(-(x-0.35)*18))
		s.At = append(s.At, sampleNow.Add(-time.Duration(720-i)*5*time.Second).UnixMilli())
		s.InFlight = append(s.InFlight, math.Round(min(50, 12+42*load+wave*4)))
		s.Cap = append(s.Cap, map[bool]float64{true: 40, false: 50}[x < 0.6])
		s.Waiting = append(s.Waiting, math.Round(max(0, (load-0.4)*14_000+wave*300)))
		s.Admissions = append(s.Admissions, 4+12*load+wave*2)
		s.WaitP50 = append(s.WaitP50, load*300_000+20)
		s.WaitP95 = append(s.WaitP95, load*520_000+80)
		s.OriginP50 = append(s.OriginP50, 80+load*120+wave*20)
		s.OriginP95 = append(s.OriginP95, 210+load*900+wave*80)
		s.Refused["queue-full"] = append(s.Refused["queue-full"], max(0, load-0.8)*30)
		s.Refused["banned"] = append(s.Refused["banned"], max(0, 2+wave*3))
		s.Refused["no-pass"] = append(s.Refused["no-pass"], 0.4)
	}
	s.OriginP50[100], s.OriginP95[100] = -1, -1
	return s
}

func sampleOverview() OverviewPage {
	return OverviewPage{Series: sampleSeries(), Groups: []CounterGroup{
		{"Waiting room", []Counter{{"at_door", "At the door", 2, "", false}, {"wait_p50_ms", "Half wait less than", 252_000, "ms", false}, {"wait_p95_ms", "95 % wait less than", 441_000, "ms", false}, {"queued_total", "Places given", 48_211, "", false}, {"admitted_total", "Let in", 38_050, "", false}, {"queue_refused_total", "Turned away, line full", 12, "", true}}},
		{"Origin", []Counter{{"origin_latency_p50_ms", "Half answer within", 187, "ms", false}, {"origin_latency_p95_ms", "95 % answer within", 1043, "ms", false}, {"utilization", "Slots in use", 94, "%", false}, {"admissions_per_second", "Let in", 12.4, "/s", false}}},
		{"Assets", []Counter{{"asset_in_flight", "In flight", 31, "", false}, {"asset_served_total", "Served", 1_204_331, "", false}}},
		{"Streams", []Counter{{"stream_active", "Open", 4, "", false}}},
		{"Priority", []Counter{{"priority_lane_in_flight", "In the lane", 1, "", false}}},
		{"Abuse", []Counter{{"active_bans", "Bans in force", 3, "", false}, {"abuse_rejected_total", "Refused requests", 8213, "", false}}},
	}}
}

func sampleAccess() AccessPage {
	return AccessPage{Acts: sampleActs(), Sessions: []Session{
		{ID: "a1", Role: "operator", Client: "127.0.0.1", Agent: agents[0], Began: sampleNow.Add(-time.Hour), Seen: sampleNow, Until: sampleNow.Add(7 * time.Hour), Current: true},
		{ID: "b2", Role: "viewer", Client: "198.51.100.77", Owner: owners[1], Agent: hostile, Began: sampleNow.Add(-2 * time.Hour), Seen: sampleNow.Add(-time.Minute), Until: sampleNow.Add(6 * time.Hour)},
	}}
}

func sampleFound() FoundPage {
	return FoundPage{Asked: "203.0.0.8", Rows: []FoundRow{{sampleQueueRow(8), 1}, {sampleQueueRow(9), 1}}, Bans: sampleBans().Rows[:1], Searched: 100_000}
}
