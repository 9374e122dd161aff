package view

import "time"

// Tab is a page of the portal.
type Tab string

// The tabs, and the page behind the operator's own menu.
const (
	TabOverview Tab = "overview"
	TabQueue    Tab = "queue"
	TabRooms    Tab = "rooms"
	TabBans     Tab = "bans"
	TabVisitors Tab = "visitors"
	TabBanLog   Tab = "banlog"
	TabSettings Tab = "settings"
	TabAccess   Tab = "access" // sessions and audit
)

// tabLink is one tab of the navigation.
type tabLink struct {
	Tab         Tab
	Title, Path string
}

var tabLinks = []tabLink{
	{TabOverview, "Overview", "/"}, {TabQueue, "Queue", "/queue"}, {TabRooms, "Rooms", "/rooms"}, {TabBans, "Bans", "/bans"},
	{TabVisitors, "Visitors", "/visitors"}, {TabBanLog, "Ban log", "/banlog"}, {TabSettings, "Settings", "/settings"},
}

// tabsOf are the tabs of a portal.
func tabsOf(f Frame) []tabLink {
	if !f.RoomsOnly {
		return tabLinks
	}
	return []tabLink{{TabRooms, "Rooms", "/rooms"}}
}

func (t Tab) title() string {
	for _, l := range tabLinks {
		if l.Tab == t {
			return l.Title
		}
	}
	return "Sessions and audit"
}

// refreshEvery is how often a tab is brought up to date, unless its Frame says
// otherwise.
const refreshEvery = 3 * time.Second

// Frame is what every page has around its own content.
type Frame struct {
	Tab     Tab
	Name    string // the site's name, as visitors see it; "" when it has none
	Version string // of the program
	CSRF    string // the session's token, 32 hexadecimal digits
	// Viewer is set when whoever looks may change nothing. Actions are then
	// shown, disabled, with the reason.
	Viewer bool
	Now    time.Time
	// Refresh is how often the visible tab is brought up to date; 0 is three seconds.
	Refresh time.Duration
	IPInfo  string // the source of IP details in use, as a sentence; "" for none
	Status  Status
	// RoomsOnly leaves out everything but off-site rooms: there is no proxy.
	RoomsOnly bool
	// Alerts are what an operator must know wherever they look: what cannot be
	// saved, a history that is still being read. One sentence each.
	Alerts []string
}

// Status is the state of the room that every page and fragment shows.
type Status struct {
	Room       string  `json:"room"` // open, paused or closed
	InFlight   int     `json:"in_flight"`
	Cap        int     `json:"cap"`
	Waiting    int     `json:"waiting"`               // visitors in line
	MaxQueue   int     `json:"max_queue"`             // 0: no limit
	Admissions float64 `json:"admissions_per_second"` // smoothed
	Bans       int     `json:"bans"`                  // in force
}
