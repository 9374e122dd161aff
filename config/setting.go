package config

import "strings"

// A Source is where a value came from.
type Source string

// The sources, weakest first.
const (
	FromDefault Source = "default"
	FromEnv     Source = "env"
	FromFlag    Source = "flag"
	FromFile    Source = "file" // settings.json in the data directory
)

// A Setting is one row of the table.
type Setting struct {
	Key     string // name in JSON and in forms, words joined by underscores
	Flag    string // without the dash; "" when only the environment may set it
	Env     string // environment variable
	Default string // in the text form every source uses
	Unit    string // what a number counts; "" for other kinds
	Help    string // one or two sentences
	Group   Group
	Live    bool // applies without a restart
	Secret  bool // never on a command line, never printed

	Shape // derived from the field's type

	bind binding
	// adds makes a repeated flag add to a list instead of replacing it.
	adds bool
	// effect describes what a value stands for, where the two differ (a 0
	// that means "derived"); nil or "" otherwise.
	effect func(*Config) string
}

// A Group gathers related settings under one heading.
type Group string

// The groups, in the order they are shown.
const (
	GroupListening Group = "Listening and clients"
	GroupTLS       Group = "TLS"
	GroupOrigin    Group = "Origin"
	GroupRoom      Group = "Room"
	GroupPage      Group = "Waiting page and API clients"
	GroupCookies   Group = "Cookies and passes"
	GroupAssets    Group = "Paths and assets"
	GroupStreams   Group = "Streams"
	GroupPriority  Group = "Priority"
	GroupSkip      Group = "Skipping the line"
	GroupAbuse     Group = "Abuse and bans"
	GroupLimits    Group = "Timeouts and limits"
	GroupLogs      Group = "Logs"
	GroupHistory   Group = "History and IP details"
	GroupPortal    Group = "Operator portal"
	GroupGate      Group = "Off-site rooms"
	GroupFleet     Group = "Several instances"
	GroupFiles     Group = "Files"
	GroupSecrets   Group = "Secrets"
)

// Groups returns the groups in the order they are shown.
func Groups() []Group {
	return []Group{
		GroupListening, GroupTLS, GroupOrigin, GroupRoom, GroupPage, GroupCookies,
		GroupAssets, GroupStreams, GroupPriority, GroupSkip, GroupAbuse, GroupLimits, GroupLogs, GroupHistory, GroupPortal, GroupGate, GroupFleet, GroupFiles, GroupSecrets,
	}
}

// Settings returns the table, one row for each setting, grouped and in the
// order they are shown. The caller owns the slice.
func Settings() []Setting {
	var rows []Setting
	for _, part := range [][]Setting{
		listeningRows(), tlsRows(), originRows(), roomRows(), pageRows(), lookRows(), cookieRows(),
		assetRows(), streamRows(), priorityRows(), skipRows(), abuseRows(), limitRows(), logRows(), historyRows(), portalRows(), gateRows(), fleetRows(), fileRows(), secretRows(), tlsSecretRows(),
	} {
		rows = append(rows, part...)
	}
	for i := range rows {
		rows[i].complete()
	}
	return rows
}

// complete derives what a row does not spell out.
func (s *Setting) complete() {
	if s.Flag == "" && !s.Secret {
		s.Flag = strings.ReplaceAll(s.Key, "_", "-")
	}
	if s.Env == "" {
		s.Env = "CONCERT_" + strings.ToUpper(s.Key)
	}
	s.Shape = s.bind.shape()
	if s.Kind == KindInt || s.Kind == KindFloat {
		s.Want = "a number of " + s.Unit + " from " + s.Min + " to " + s.Max
	}
}

// name is what an operator calls the setting when it came from src.
func (s Setting) name(src Source) string {
	if src == FromEnv || s.Flag == "" {
		return s.Env
	}
	return "-" + s.Flag
}

// Text returns the value c has for the setting, in the form that every source
// accepts. Secrets and credentials are replaced.
func (s Setting) Text(c *Config) string {
	return s.redact(s.bind.text(c))
}

// redact hides what must not be shown of a value's text.
func (s Setting) redact(text string) string {
	switch {
	case s.Secret && text == "":
		return "(unset)"
	case s.Secret:
		return "(set)"
	case s.Kind == KindURL:
		return redactUserinfo(text)
	}
	return text
}
