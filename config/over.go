package config

// Over returns the configuration as far as it can be put in force while one
// runs: settings that take a restart are as running has them.
func (l *Loaded) Over(running *Config) *Config {
	c := *l.Config
	for _, s := range Settings() {
		if s.Live {
			continue
		}
		if err := s.bind.set(&c, s.bind.text(running)); err != nil {
			panic("BUG: " + s.Key + " does not accept its own text: " + err.Error())
		}
	}
	return &c
}

// OwnKeys are the keys of [Config.AdmitSecrets] that were made for this
// process, for as long as nobody sets others.
func (l *Loaded) OwnKeys() Keys { return l.keys }

// Succeed is Reload by a process that goes on where another one ends: keys is
// what OwnKeys was there, so that what the other one signed stays valid.
func (l *Loaded) Succeed(keys Keys) (*Loaded, error) {
	if len(keys) == 0 {
		keys = l.keys
	}
	return l.sources.load(keys)
}
