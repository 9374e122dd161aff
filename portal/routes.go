package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/portal/view"
)

// need is what a route asks of whoever sends the request.
type need uint8

const (
	nothing need = iota // not even who they are
	nobody              // to be known if they are
	look                // a session of either role, or the token
	change              // a session of an operator and its token, or the admin token
)

// param is a parameter of the query.
type param struct {
	name, text string
	required   bool
}

// route is one row of the table. Either json or page serves it.
type route struct {
	method, path string
	summary      string
	needs        need
	params       []param
	body         any   // of the type that the body has; nil: none
	answer       any   // of the type that 200 has
	fails        []int // statuses beside those that needs stands for
	json         func(*request) (any, error)
	page         func(*request) error
	alone        bool // there also where there is nothing but off-site rooms
}

// Parameters that several routes have.
var (
	dryRun = param{name: "dry-run", text: "1: only say what the change would come to"}
	client = param{name: "client", text: "an address or a network", required: true}
	pages  = []param{
		{name: "page", text: "from 1; beyond the last it is the last"},
		{name: "size", text: "rows of a page: 25, 50 or 100"},
		{name: "q", text: "a text that rows must contain, in any case of letters"},
		{name: "keys", text: "up to 200 keys of rows, separated by commas, whose pages to tell"},
	}
	flagged = param{name: "flagged", text: "1: only clients that were banned"}
	opened  = param{name: "open", text: "the key of the row that is shown with its details"}
	entries = param{name: "entries", text: "which page of the details"}
	whose   = param{name: "instance", text: "with a shared line, the instance whose history it is: a name, this, or all"}
)

// What only one instance knows, of the one that was chosen. Numbers of bans are
// each instance's own, so the ban log is never of all.
var (
	visitorsHere = local("visitors", visitorsPage, visitorsOfAll)
	visitorHere  = local("visitor", visitorDetail, visitorOfAll)
	banLogHere   = local("banlog", banLogPage, nil)
	banHere      = local("ban", banDetail, nil)
	listingHere  = local("history", listing, listingOfAll)
	clientHere   = local("client", (*request).clientOf, clientOfAll)
	recordHere   = local("record", (*request).banRecordOf, nil)
)

// routes is the table of everything that the portal answers.
func routes() []route {
	return slices.Concat(pageRoutes(), lineRoutes(), roomRoutes(), banRoutes(), settingRoutes(), recordRoutes(), fragmentRoutes())
}

func pageRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: "/", summary: "The overview, or the form to sign in.", needs: look, page: firstPage, alone: true},
		{method: get, path: "/queue", summary: "The line.", needs: look, params: pages, page: tab(queuePage, view.RenderQueue)},
		{method: get, path: "/bans", summary: "The bans in force.", needs: look, params: pages, page: tab(bansPage, view.RenderBans)},
		{method: get, path: "/visitors", summary: "The clients in the history.", needs: look, params: append(slices.Clone(pages), flagged, opened, entries, whose), fails: []int{404, 502}, page: tab(visitorsHere, view.RenderVisitors)},
		{method: get, path: "/banlog", summary: "The bans in the history.", needs: look, params: append(slices.Clone(pages), opened, whose), fails: []int{404, 502}, page: tab(banLogHere, view.RenderBanLog)},
		{method: get, path: "/settings", summary: "The settings.", needs: look, page: tab(settingsPage, view.RenderSettings)},
		{method: get, path: "/access", summary: "The sessions and the audit trail.", needs: look, page: tab(accessPage, view.RenderAccess), alone: true},
		{method: post, path: "/login", summary: "Sign in: the form's field is pass.", needs: nothing, fails: []int{401, 429}, page: signIn, alone: true},
		{method: post, path: "/logout", summary: "Sign out: the form's field is csrf.", needs: nobody, page: signOut, alone: true},
		{method: get, path: assetPath, summary: "A static file of the pages.", needs: nothing, fails: []int{404}, page: asset, alone: true},
		{method: get, path: "/api/openapi.json", summary: "This description.", needs: look, answer: map[string]any{}, page: openAPI, alone: true},
	}
}

func lineRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: "/api/overview", summary: "All counters, by name.", needs: look, answer: map[string]any{}, json: apiOverview},
		{method: get, path: "/api/series", summary: "What the charts show: the last hour, a measurement every five seconds.", needs: look,
			params: []param{{name: "since", text: "only what was measured after that time, in Unix milliseconds"}}, answer: view.Series{}, json: apiSeries},
		{method: get, path: "/api/queue", summary: "A part of the line, in its order.", needs: look,
			params: []param{{name: "offset", text: "how many visitors at the front to leave out"}}, answer: Queue{}, fails: []int{503}, json: apiQueue},
		{method: get, path: "/api/queue/find", summary: "One visitor, and why they wait.", needs: look,
			params: []param{{name: "q", text: "an address or network, a ticket, the reference of a waiting page, or an id", required: true}}, answer: Found{}, fails: []int{503}, json: apiFind},
		{method: post, path: "/api/queue/promote", summary: "Move a visitor to the front, behind those who were moved before.", needs: change,
			body: Promote{}, answer: Promoted{}, fails: []int{404, 409, 503}, json: apiPromote},
		{method: post, path: "/api/queue/kick", summary: "Take a visitor out of the line, and ban their client if wanted.", needs: change,
			body: Kick{}, answer: Kicked{}, fails: []int{404, 409, 500, 503}, json: apiKick},
		{method: post, path: "/api/room", summary: "Pause, resume or close.", needs: change, params: []param{dryRun},
			body: Room{}, answer: view.Edited{}, fails: settingFails, json: apiRoom},
		{method: post, path: "/api/cap", summary: "Change how many page requests may be at the origin at once.", needs: change, params: []param{dryRun},
			body: Cap{}, answer: view.Edited{}, fails: settingFails, json: apiCap},
	}
}

// settingFails are the statuses of a change of settings that was not made: the
// file was edited or there is nothing to undo, settings are fixed, another
// process takes over, the change cannot be saved.
var settingFails = []int{409, 500, 501, 503}

// Parameters of rooms.
var (
	ofKind = param{name: "kind", text: "site or gate: rooms within the site, or off-site; may be left out where there is one kind only"}
	ofRoom = param{name: "id", text: "of the room", required: true}
)

func roomRoutes() []route {
	get, post, del := http.MethodGet, http.MethodPost, http.MethodDelete
	one := []param{ofKind, ofRoom}
	dry := []param{ofKind, ofRoom, dryRun}
	fails := append(slices.Clone(settingFails), 404)
	rows := []route{
		{method: get, path: "/rooms", summary: "All rooms.", needs: look, page: tab(roomsPage, view.RenderRooms)},
		{method: get, path: "/rooms/room", summary: "One room.", needs: look, params: one, page: tab(roomPage, view.RenderRoom)},
		{method: get, path: "/rooms/new", summary: "The form of a new room.", needs: look, params: []param{ofKind}, page: tab(newRoomPage, view.RenderNewRoom)},
		{method: get, path: "/api/rooms", summary: "All rooms, with totals.", needs: look, answer: Rooms{}, fails: []int{503}, json: apiRooms},
		{method: post, path: "/api/rooms", summary: "Make a room: the body has its members.", needs: change, params: []param{ofKind, dryRun},
			body: map[string]any{}, answer: RoomDone{}, fails: fails, json: apiCreateRoom},
		{method: get, path: "/api/rooms/room", summary: "One room with live counters, who passed per minute, messages and audit.", needs: look, params: one,
			answer: view.RoomDetail{}, fails: []int{404, 503}, json: apiOneRoom},
		{method: post, path: "/api/rooms/room", summary: "Change members of a room.", needs: change, params: dry,
			body: map[string]any{}, answer: RoomDone{}, fails: fails, json: apiEditRoom},
		{method: del, path: "/api/rooms/room", summary: "Delete a room.", needs: change, params: dry, answer: RoomDone{}, fails: fails, json: apiDeleteRoom},
		{method: post, path: "/api/rooms/actions", summary: "Pause, resume, open or reset a room.", needs: change, params: dry,
			body: RoomAction{}, answer: RoomDone{}, fails: fails, json: apiRoomAction},
		{method: post, path: "/api/rooms/messages", summary: "Add a message to an off-site room, or change one.", needs: change,
			params: []param{ofRoom, {name: "message", text: "of the message; without it, the message is a new one"}}, body: Message{}, answer: RoomDone{}, fails: []int{404, 409, 503}, json: apiMessage},
		{method: del, path: "/api/rooms/messages", summary: "Delete a message of an off-site room.", needs: change,
			params: []param{ofRoom, {name: "message", text: "of the message", required: true}}, answer: RoomDone{}, fails: []int{404, 503}, json: apiDeleteMessage},
		{method: get, path: "/api/frag/rooms", summary: "The overview of rooms.", needs: look, answer: view.Fragment{}, fails: []int{503}, json: fragment(roomsPage, view.RoomsFragment)},
		{method: get, path: "/api/frag/room", summary: "What changes on the page of a room.", needs: look, params: one, answer: view.Fragment{}, fails: []int{404, 503}, json: fragment(roomPage, view.RoomFragment)},
	}
	for i := range rows {
		rows[i].alone = true
	}
	return rows
}

func banRoutes() []route {
	get, post, del := http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{method: get, path: "/api/bans", summary: "The bans in force, at most 10,000.", needs: look,
			params: []param{{name: "q", text: "a text that client, cause, note or operator must contain"}, {name: "offset", text: "how many to leave out"}}, answer: Bans{}, json: apiBans},
		{method: get, path: "/api/bans/preview", summary: "What a ban would do.", needs: look, params: []param{client}, answer: view.BanPreview{}, fails: []int{503}, json: apiPreview},
		{method: post, path: "/api/bans", summary: "Ban a client or a range, or change its ban.", needs: change,
			body: BanOrder{}, answer: BanMade{}, fails: []int{409, 500, 503}, json: apiBan},
		{method: del, path: "/api/bans", summary: "Lift a ban and forget the client.", needs: change, params: []param{client},
			answer: Unbanned{}, fails: []int{404, 409, 500, 503}, json: apiUnban},
		{method: post, path: "/api/undo", summary: "Take a ban, or the lifting of one, back.", needs: change,
			body: Undo{}, answer: Undone{}, fails: []int{404, 409, 500, 503}, json: apiUndo},
	}
}

func settingRoutes() []route {
	get, post, del := http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{method: get, path: "/api/settings", summary: "Every setting.", needs: look, answer: Settings{}, json: apiSettings},
		{method: post, path: "/api/settings", summary: "Change settings, all or none.", needs: change, params: []param{dryRun},
			body: map[string]any{}, answer: SettingsEdited{}, fails: settingFails, json: apiSetSettings},
		{method: del, path: "/api/settings", summary: "Have settings go back to flag, variable or default.", needs: change,
			params: []param{{name: "key", text: "a setting; repeat it for several", required: true}, dryRun}, answer: SettingsEdited{}, fails: settingFails, json: apiResetSettings},
		{method: post, path: "/api/settings/undo", summary: "Take the last change of settings back.", needs: change,
			params: []param{{name: "of", text: "only the change that was answered with this time as updated"}, dryRun},
			answer: SettingsEdited{}, fails: settingFails, json: apiUndoSettings},
		{method: get, path: "/api/settings/history", summary: "The acts that changed settings.", needs: look, answer: Acts{}, json: apiSettingsHistory},
	}
}

func recordRoutes() []route {
	get, del := http.MethodGet, http.MethodDelete
	return []route{
		{method: get, path: "/api/history", summary: "Clients and bans in the history.", needs: look,
			params: []param{{name: "q", text: "a text that address, path or user agent must contain"}, flagged, whose}, answer: Listing{}, fails: []int{404, 502}, json: asAPI(listingHere)},
		{method: get, path: "/api/history/client", summary: "One client with its requests.", needs: look, params: []param{client, whose}, answer: history.ClientView{}, fails: []int{404, 502}, json: asAPI(clientHere)},
		{method: get, path: "/api/history/ban", summary: "One ban with paths and addresses.", needs: look,
			params: []param{{name: "id", text: "the number of the ban", required: true}, whose}, answer: history.BanView{}, fails: []int{404, 502}, json: asAPI(recordHere)},
		{method: get, path: "/api/sessions", summary: "Who is signed in.", needs: look, answer: Sessions{}, json: apiSessions, alone: true},
		{method: del, path: "/api/sessions", summary: "End a session.", needs: change,
			params: []param{{name: "id", text: "of the session", required: true}}, answer: Revoked{}, fails: []int{404}, json: apiRevoke, alone: true},
		{method: get, path: "/api/audit", summary: "What operators did, newest first.", needs: look,
			params: []param{{name: "limit", text: "at most so many, up to 500; 100 without it"}}, answer: Acts{}, json: apiAudit, alone: true},
	}
}

func fragmentRoutes() []route {
	get := http.MethodGet
	of := func(path, summary string, params []param, serve func(*request) (any, error), fails ...int) route {
		return route{method: get, path: "/api/frag/" + path, summary: summary, needs: look, params: params, answer: view.Fragment{}, fails: fails, json: serve}
	}
	return []route{
		of("overview", "The counters, and the table that stands for the charts.", nil, fragment(overviewPage, view.OverviewFragment)),
		of("queue", "Rows of the line.", pages, fragment(queuePage, view.QueueFragment), 503),
		of("find", "One visitor, and why they wait.", []param{{name: "q", text: "as for /api/queue/find", required: true}}, fragment(foundPage, view.FindFragment), 503),
		of("bans", "Rows of the bans in force.", pages, fragment(bansPage, view.BansFragment)),
		of("visitors", "Rows of the clients in the history.", append(slices.Clone(pages), flagged, whose), fragment(visitorsHere, view.VisitorsFragment), 404, 502),
		of("visitor", "What is below a client's row.", []param{client, pages[0], pages[1], whose}, fragment(visitorHere, view.VisitorFragment), 404, 502),
		of("banlog", "Rows of the bans in the history.", append(slices.Clone(pages), whose), fragment(banLogHere, view.BanLogFragment), 404, 502),
		of("ban", "What is below a ban's row.", []param{{name: "id", text: "the number of the ban", required: true}, whose}, fragment(banHere, view.BanFragment), 404, 502),
	}
}

// indexRoutes finds rows by path and method. It panics when two are the same.
func indexRoutes(rows []route) map[string]map[string]*route {
	index := make(map[string]map[string]*route)
	for i := range rows {
		row := &rows[i]
		if index[row.path] == nil {
			index[row.path] = make(map[string]*route)
		}
		if index[row.path][row.method] != nil {
			panic("BUG: portal: two routes for " + row.method + " " + row.path)
		}
		index[row.path][row.method] = row
	}
	return index
}

// allowOf is the Allow header of a path.
func allowOf(methods map[string]*route) string {
	names := make([]string, 0, len(methods))
	for name := range methods {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
