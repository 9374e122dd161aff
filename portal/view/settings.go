package view

import (
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
)

// SettingsPage is the settings, grouped as the table has them.
type SettingsPage struct {
	Groups    []SettingsGroup
	Fixed     bool      // they cannot be changed
	Persisted bool      // changes outlive the process
	File      string    // where they are kept; "" for nowhere
	Updated   time.Time // zero: never
	Undo      bool      // there is a change to take back
	// Changes are the acts that changed settings, newest first.
	Changes []persist.Act
	// Log is what there is to say of the history log and of IP details, one
	// line each.
	Log []Fact
}

// Fact is something to know, with its name.
type Fact struct{ Label, Value string }

// SettingsGroup is one heading with its settings.
type SettingsGroup struct {
	Name   config.Group
	Fields []Field
}

// Field is one setting in the form.
type Field struct {
	config.Setting
	Value  string // of secrets only whether they are set
	Source config.Source
	// Locked says why the portal may not change it; "" when it may.
	Locked string
}

// Edited is what a change of settings comes to.
type Edited struct {
	DryRun   bool       `json:"dry_run"`
	Changed  []Change   `json:"changed"`
	Affects  []Affected `json:"affects"`
	Warnings []string   `json:"warnings"`
}

// Change is one setting that becomes another.
type Change struct {
	Key        string        `json:"key"`
	From       string        `json:"from"`
	To         string        `json:"to"`
	FromSource config.Source `json:"from_source"`
	ToSource   config.Source `json:"to_source"`
}

// Affected is whom a change concerns at once.
type Affected struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
	Text  string `json:"text"`
}
