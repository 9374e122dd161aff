package config

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
)

// ErrHelp is returned by Load when -h, -help or --help is given, whatever else is.
var ErrHelp = errors.New("help requested")

// ErrVersion is returned by Load when -version is given, whatever else is.
var ErrVersion = errors.New("version requested")

// Sources are where a configuration comes from, beside the defaults.
type Sources struct {
	Args    []string // the command line without the program's name
	Environ []string // as os.Environ gives it
	// ReadStored returns what operators saved in the data directory. Nil, or
	// an empty -data-dir, stands for nothing; it is called by Load and again
	// by Reload. Its error is a problem like any other, and should name the
	// file.
	ReadStored func(dataDir string) (Stored, error)
}

// Stored are the settings that operators saved.
type Stored struct {
	Name   string // of the file, for messages
	Values map[string]json.RawMessage
}

// Loaded is a configuration and how it came about. It is not changed by
// anybody: With and Reload make another.
type Loaded struct {
	Config *Config
	// Origins says for the key of every setting where its value came from.
	Origins map[string]Source
	// Warnings are one line each, for the log and for "concert check".
	Warnings []string

	sources Sources
	read    reading
	keys    Keys              // the random ones of this process
	names   map[string]string // by key, what the operator calls the setting
}

// reading is what was read of the sources.
type reading struct {
	env, flags layer
	stored     Stored
	warnings   []string
}

// layer is what one source sets: the text of each setting, by key.
type layer struct {
	source Source
	texts  map[string]string
	names  map[string]string // by key, where Setting.name does not say it all
}

func newLayer(src Source) layer {
	return layer{src, make(map[string]string), make(map[string]string)}
}

// name is what the operator calls the setting in this source.
func (l layer) name(s Setting) string {
	if name, ok := l.names[s.Key]; ok {
		return name
	}
	return s.name(l.source)
}

// Load builds the configuration from the command line (without the program's
// name) and the environment (as os.Environ gives it), without stored settings.
// See [Sources.Load] for the error.
func Load(args, environ []string) (*Loaded, error) {
	return Sources{Args: args, Environ: environ}.Load()
}

// Load builds the configuration. A stored setting beats a flag, which beats a
// variable, which beats the default.
//
// The error is ErrHelp, ErrVersion, or all problems joined, one line each.
// Beside problems, what is returned holds the warnings and nothing else: an
// unknown variable may be what explains them.
func (src Sources) Load() (*Loaded, error) { return src.load(randomKeys()) }

// Reload reads the sources again: the files of -env-file, the stored settings
// and the waiting page. Random keys stay. On an error, which is as of Load,
// what is in force should stay so.
//
// Settings whose change takes a restart show their new value as well; Diff
// tells them, and Over leaves them out.
func (l *Loaded) Reload() (*Loaded, error) { return l.sources.load(l.keys) }

func (src Sources) load(keys Keys) (*Loaded, error) {
	rows := Settings()
	read, problems := src.readAll(rows)
	if len(problems) == 1 && (problems[0] == ErrHelp || problems[0] == ErrVersion) {
		return nil, problems[0]
	}
	file, warnings, err := read.stored.layer(rows)
	loaded, buildErr := build(rows, keys, true, read.env, read.flags, file)
	if err := errors.Join(append(problems, err, buildErr)...); err != nil {
		return &Loaded{Warnings: append(read.warnings, warnings...)}, err
	}
	loaded.sources, loaded.read = src, read
	loaded.Warnings = append(append(read.warnings, warnings...), loaded.Warnings...)
	return loaded, nil
}

// readAll reads the sources past whatever is wrong with them.
func (src Sources) readAll(rows []Setting) (reading, []error) {
	cl := parseFlags(rows, src.Args)
	switch {
	case cl.help:
		return reading{}, []error{ErrHelp}
	case cl.version:
		return reading{}, []error{ErrVersion}
	}
	problems := cl.problems
	read := reading{flags: layer{source: FromFlag, texts: cl.texts}}
	read.env, read.warnings = parseEnviron(rows, src.Environ)

	files, name := lookUp(rows, "env_file", read.flags, read.env)
	warnings, bad := read.env.addFiles(rows, splitList(files), name)
	read.warnings = append(read.warnings, warnings...)
	problems = append(problems, bad...)

	dir, _ := lookUp(rows, "data_dir", read.flags, read.env)
	if dir = strings.TrimSpace(dir); dir != "" && src.ReadStored != nil {
		stored, err := src.ReadStored(dir)
		if err != nil {
			problems = append(problems, err)
		}
		read.stored = stored
	}
	return read, problems
}

// lookUp returns the text of a setting in the first layer that has it, or its
// default, and what the operator calls it there.
func lookUp(rows []Setting, key string, layers ...layer) (text, name string) {
	s := row(rows, key)
	for _, l := range layers {
		if text, ok := l.texts[key]; ok {
			return text, l.name(s)
		}
	}
	return s.Default, s.name(FromDefault)
}

// build applies the layers, weakest first, to the defaults. With outside, it
// looks at files of others as well.
func build(rows []Setting, keys Keys, outside bool, layers ...layer) (*Loaded, error) {
	l := &Loaded{
		Config:  defaults(keys),
		Origins: make(map[string]Source, len(rows)),
		keys:    keys,
		names:   make(map[string]string, len(rows)),
	}
	v := validator{name: func(s Setting) string { return l.names[s.Key] }}
	l.applyLayers(rows, layers, &v)
	l.readFiles(rows, &v)
	set := l.Config.Rooms
	if v.bad["rooms"] {
		set = readableRooms(layers) // so that all that is wrong is told at once
	}
	if err := readRoomPages(set, l.Config.PagesDir); err != nil {
		v.rejectKey(rows, "rooms", l.Config, err)
	}
	v.ownKeys = l.Origins["admit_secret"] == FromDefault
	v.crossCheck(l.Config, outside)
	if err := v.err(); err != nil {
		return nil, err
	}
	l.advise()
	if outside {
		l.adviseFiles()
	}
	return l, nil
}

// applyLayers sets every setting to what the strongest layer has that names it.
func (l *Loaded) applyLayers(rows []Setting, layers []layer, v *validator) {
	for _, s := range rows {
		l.Origins[s.Key], l.names[s.Key] = FromDefault, s.name(FromDefault)
		for _, from := range layers {
			text, ok := from.texts[s.Key]
			if !ok {
				continue
			}
			l.Origins[s.Key], l.names[s.Key] = from.source, from.name(s)
			// A weaker value that is malformed is a problem as well.
			if err := s.bind.set(l.Config, strings.TrimSpace(text)); err != nil {
				v.reject(s, from.name(s), text, err)
			}
		}
	}
}

// readFiles reads the files that settings name, and checks what is in them.
func (l *Loaded) readFiles(rows []Setting, v *validator) {
	for _, s := range rows {
		f, ok := s.bind.field(l.Config).(*File)
		if !ok {
			continue
		}
		err := f.read(s.Key == "html" && l.Origins["html"] == FromFile, l.Config.PagesDir)
		if err == nil {
			err = s.bind.check(l.Config)
		}
		if err != nil {
			v.rejectKey(rows, s.Key, l.Config, err)
		}
	}
}

// Stored returns the values that the settings file should hold for this
// configuration, in their canonical form. The caller owns the map.
func (l *Loaded) Stored() map[string]json.RawMessage { return maps.Clone(l.read.stored.Values) }
