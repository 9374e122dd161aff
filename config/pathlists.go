package config

import (
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// pathList is a list of paths. Entries are judged one by one here, and against
// those of the other lists by the rule pathsAgree.
func pathList(at func(*Config) *[]string) binding {
	return bound[[]string]{at, codec[[]string]{
		Shape:  Shape{Kind: KindList, Want: "paths that start with /, separated by commas; /* at the end makes a prefix"},
		parse:  func(text string) ([]string, error) { return splitList(text), nil },
		format: func(list []string) string { return strings.Join(list, ",") },
		check: func(list []string) error {
			const name = "entry"
			var faults []string
			for _, err := range parts(paths.Check(name, strings.Join(list, ","))) {
				faults = append(faults, strings.TrimPrefix(err.Error(), name+": "))
			}
			if faults == nil {
				return nil
			}
			return misfit(strings.Join(faults, "; "))
		},
	}}
}

// parts takes joined errors apart.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

// pathRow is one of the path lists.
type pathRow struct {
	key     string
	entries []string
	class   pipeline.Class
	ban     bool
}

func (c *Config) pathRows() []pathRow {
	return []pathRow{
		{key: "bypass", entries: c.Bypass, class: pipeline.Bypass},
		{key: "assets", entries: c.Assets, class: pipeline.Asset},
		{key: "asset_public", entries: c.AssetPublic, class: pipeline.PublicAsset},
		{key: "stream_paths", entries: c.StreamPaths, class: pipeline.Stream},
		{key: "ban_paths", entries: c.BanPaths, ban: true},
	}
}

// pathLists are the rows as package paths takes them. Ban paths are strict: a
// path in one is banned however it is spelled.
func pathLists[V comparable](rows []pathRow, name func(key string) string, value func(pathRow) V) []paths.List[V] {
	lists := make([]paths.List[V], len(rows))
	for i, r := range rows {
		lists[i] = paths.List[V]{Name: name(r.key), Entries: strings.Join(r.entries, ","), Value: value(r), Strict: r.ban}
	}
	return lists
}

func classOf(r pathRow) pipeline.Class { return r.class }
func bans(r pathRow) bool              { return r.ban }

// flagNames names settings by their flags.
func flagNames() func(key string) string {
	rows := Settings()
	return func(key string) string { return row(rows, key).name(FromFlag) }
}

// PathTable is the table of the lists that give paths a class. The error joins
// one error for each bad entry; there is none after [Config.Validate].
func (c *Config) PathTable() (*paths.Table[pipeline.Class], error) {
	return paths.Build(pathLists(slices.DeleteFunc(c.pathRows(), bans), flagNames(), classOf)...)
}

// BanTable is the table that finds ban paths: those with the value true. The
// other lists are in it as well, because the longest pattern decides: an entry
// of theirs inside a ban path is an exception to it. It is nil when there are
// no ban paths; the error is that of PathTable.
func (c *Config) BanTable() (*paths.Table[bool], error) {
	if len(c.BanPaths) == 0 {
		return nil, nil
	}
	return paths.Build(pathLists(c.pathRows(), flagNames(), bans)...)
}

// pathsAgree: no entry stands in two lists. A list with entries that are no
// paths was refused already, and is left out.
func pathsAgree(c *Config, v *validator) []conflict {
	keys := make(map[string]string)
	rows := Settings()
	lists := pathLists(c.pathRows(), func(key string) string {
		name := v.name(row(rows, key))
		keys[name] = key
		return name
	}, bans)
	lists = slices.DeleteFunc(lists, func(l paths.List[bool]) bool { return v.bad[keys[l.Name]] })
	_, err := paths.Build(lists...)
	var conflicts []conflict
	for _, err := range parts(err) {
		name, text, _ := strings.Cut(err.Error(), ": ")
		conflicts = append(conflicts, conflict{key: keys[name], fix: text})
	}
	return conflicts
}
