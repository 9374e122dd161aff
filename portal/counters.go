package portal

// overviewCounter is a number of the overview: a row of the table below.
type overviewCounter struct {
	name, label, unit string
	bad               bool
}

type overviewGroup struct {
	title    string
	counters []overviewCounter
}

// counterGroups is the table of what the overview shows below the charts.
func counterGroups() []overviewGroup {
	return []overviewGroup{
		{"Waiting room", []overviewCounter{
			{"queue_depth", "Places in line", "", false},
			{"live_queue_depth", "Of these, there now", "", false},
			{"at_door", "Held at the door", "", false},
			{"called", "Told to come", "", false},
			{"admissions_per_second", "Admissions", "/s", false},
			{"wait_p50_ms", "Half are in within", "ms", false},
			{"wait_p95_ms", "95 in 100 within", "ms", false},
			{"queued_total", "Places given", "", false},
			{"admitted_total", "Admitted", "", false},
			{"evicted_total", "Places that ended unused", "", false},
			{"timeouts_total", "Outlasted the door", "", false},
			{"promoted_total", "Moved up", "", false},
			{"removed_total", "Removed", "", false},
			{"kicked_active", "Removed lately", "", false},
			{"queue_refused_total", "Turned away, line full", "", true},
		}},
		{"Origin", []overviewCounter{
			{"occupancy", "Pages at the origin", "", false},
			{"cap", "Most at once", "", false},
			{"mean_hold_ms", "A slot is held", "ms", false},
			{"origin_latency_p50_ms", "Half answered within", "ms", false},
			{"origin_latency_p95_ms", "95 in 100 within", "ms", false},
		}},
		{"Assets", []overviewCounter{
			{"asset_in_flight", "At the origin", "", false},
			{"asset_cap", "Most at once", "", false},
			{"asset_users", "Visitors with a pool", "", false},
			{"asset_served_total", "Served", "", false},
			{"asset_denied_total", "Without a pass", "", false},
			{"asset_user_throttled_total", "Visitor's pool full", "", true},
			{"asset_global_throttled_total", "All slots in use", "", true},
		}},
		{"Streams", []overviewCounter{
			{"stream_active", "Open", "", false},
			{"stream_cap", "Most at once", "", false},
			{"stream_served_total", "Opened", "", false},
			{"stream_denied_total", "Without a pass", "", false},
			{"stream_throttled_total", "All slots in use", "", true},
		}},
		{"Priority", []overviewCounter{
			{"priority_lane_in_flight", "In the lane", "", false},
			{"priority_lane_cap", "Most at once", "", false},
			{"priority_lane_waiting", "Waiting for the lane", "", false},
			{"priority_lane_served_total", "Served by the lane", "", false},
			{"priority_lane_full_total", "Lane was full", "", true},
			{"priority_forms_total", "Forms that may use the lane", "", false},
			{"priority_forms_refused_total", "Forms not sent", "", true},
			{"priority_grants_total", "Ranks granted", "", false},
			{"priority_rejected_total", "Ranks not understood", "", true},
		}},
		{"Abuse and history", []overviewCounter{
			{"active_bans", "Bans in force", "", false},
			{"abuse_range_bans", "Of these, ranges", "", false},
			{"abuse_tracked", "Clients tracked", "", false},
			{"abuse_strikes_total", "Strikes", "", false},
			{"abuse_bans_total", "Bans made", "", false},
			{"abuse_rejected_total", "Requests of the banned", "", false},
			{"abuse_dropped_total", "Acts without room", "", true},
			{"history_clients", "Clients remembered", "", false},
			{"notes_tracked", "Notes on visitors in line", "", false},
			{"notes_dropped", "Notes without room", "", true},
		}},
	}
}
