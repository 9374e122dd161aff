package config

import "path/filepath"

func gateRows() []Setting {
	return []Setting{{
		Key: "gate_listen", Group: GroupGate,
		Help: "Address of the queue API and the waiting pages of off-site rooms; empty has none. concert gate runs nothing else, and has :8088.",
		bind: checked(func(c *Config) *string { return &c.GateListen }, "host:port, :port or nothing", orNothing(checkListen)),
	}, {
		Key: "gate_admin_listen", Group: GroupGate,
		Help: "Address of the operators' API of off-site rooms, which takes CONCERT_ADMIN_TOKEN; visitors must not reach it. Empty has none; concert gate has 127.0.0.1:8081.",
		bind: checked(func(c *Config) *string { return &c.GateAdminListen }, "host:port, :port or nothing", orNothing(checkListen)),
	}, {
		Key: "gate_keys", Group: GroupGate,
		Help: "File with the keys that sign the tokens of off-site rooms, as concert keys writes it. Empty is gate-keys.json in -data-dir, made at the first start; with Redis all instances need the same file.",
		bind: checked(func(c *Config) *string { return &c.GateKeys }, "a file name, or nothing", checkPath),
	}, {
		Key: "gate_joins", Default: "120", Unit: "joins", Group: GroupGate,
		Help: "Tickets that one IPv4 address or IPv6 /64 may be given or resume per minute; 0 sets no limit. Addresses in -abuse-allow and trusted proxies are not counted.",
		bind: whole(func(c *Config) *int { return &c.GateJoins }, 0, 1_000_000),
	}, {
		Key: "gate_requests", Default: "50", Unit: "requests", Group: GroupGate,
		Help: "Other requests to the queue API from one address per second; 0 sets no limit. The same addresses are not counted.",
		bind: whole(func(c *Config) *int { return &c.GateRequests }, 0, 1_000_000),
	}}
}

// orNothing accepts empty text as well.
func orNothing(ok func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return ok(text)
	}
}

// GateKeysFile is the name of the key file of off-site rooms; "" when the keys
// are kept in memory.
func (c *Config) GateKeysFile() string {
	if c.GateKeys == "" && c.DataDir != "" {
		return filepath.Join(c.DataDir, "gate-keys.json")
	}
	return c.GateKeys
}

// gateIsWhole: operators of rooms need the token, and rooms to operate.
func gateIsWhole(c *Config, v *validator) []conflict {
	switch {
	case c.GateListen != "" && c.RedisURL != "" && c.GateKeys == "":
		return []conflict{{key: "gate_keys", want: "a file that all instances have, while CONCERT_REDIS_URL is set", fix: "concert keys new makes one"}}
	case c.GateAdminListen == "":
		return nil
	case c.GateListen == "":
		return []conflict{{key: "gate_admin_listen", want: "nothing while " + v.name(row(Settings(), "gate_listen")) + " is empty", fix: "set the other, too"}}
	case c.AdminToken == "":
		return []conflict{{key: "gate_admin_listen", want: "CONCERT_ADMIN_TOKEN to be set", fix: "set it, for which openssl rand -hex 32 makes a token, or leave the address empty"}}
	}
	return nil
}
