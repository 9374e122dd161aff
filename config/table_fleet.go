package config

import (
	"os"
	"regexp"

	redisline "github.com/andreimerlescu/concert/line/redis"
)

// roomForm is what names rooms and instances: it becomes part of keys in Redis.
var roomForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// fleetRows are for several instances that share one line. Where Redis is, is
// among the secrets.
func fleetRows() []Setting {
	return []Setting{{
		Key: "redis_room", Default: "concert", Group: GroupFleet,
		Help: "Name of the room in Redis: instances with the same one share one line, bans and changed settings.",
		bind: checked(func(c *Config) *string { return &c.RedisRoom }, "1 to 64 letters, digits, dots, underscores and hyphens", checkRoom),
	}, {
		Key: "redis_down", Default: "share", Group: GroupFleet,
		Help: "What an instance does while Redis is away: share serves with the slots it has, closed has everybody wait, open lets everybody pass.",
		bind: choice(func(c *Config) *redisline.Policy { return &c.RedisDown },
			option[redisline.Policy]{"share", redisline.Share}, option[redisline.Policy]{"closed", redisline.Closed},
			option[redisline.Policy]{"open", redisline.Open}),
	}, {
		Key: "instance", Group: GroupFleet,
		Help: "Name of this instance in statistics and logs; empty is the host's name.",
		bind: checked(func(c *Config) *string { return &c.Instance }, "1 to 64 letters, digits, dots, underscores and hyphens, or nothing", checkInstance),
	}}
}

// redisRow is the one row of the fleet that is a secret.
func redisRow() Setting {
	return Setting{
		Key: "redis_url", Group: GroupSecrets, Secret: true,
		Help: "Redis or Valkey that holds the line for all instances: redis://, rediss:// or unix://, with master_set= for sentinels. Empty keeps the line in this process.",
		bind: redisURL(func(c *Config) *Secret { return &c.RedisURL }),
	}
}

func redisURL(at func(*Config) *Secret) binding {
	return bound[Secret]{at, codec[Secret]{
		Shape:  Shape{Kind: KindText, Want: "redis://host:port/database, rediss://… or unix:///path, or nothing"},
		parse:  func(text string) (Secret, error) { return Secret(text), nil },
		format: func(s Secret) string { return string(s) },
		check: func(s Secret) error {
			if s == "" {
				return nil
			}
			if _, err := redisline.ParseURL(string(s)); err != nil {
				return misfit(err.Error())
			}
			return nil
		},
	}}
}

func checkRoom(name string) error {
	if !roomForm.MatchString(name) {
		return misfit("")
	}
	return nil
}

func checkInstance(name string) error {
	if name == "" {
		return nil
	}
	return checkRoom(name)
}

// InstanceName is what this process is called among others.
func (c *Config) InstanceName() string {
	if c.Instance != "" {
		return c.Instance
	}
	name, err := os.Hostname()
	if err != nil || checkRoom(name) != nil {
		return "concert"
	}
	return name
}
