package config

import (
	"strings"
	"testing"
)

func TestRedisURL(t *testing.T) {
	secret := "CONCERT_ADMIT_SECRET=" + goodSecret
	for env, want := range map[string]string{
		"redis://10.0.0.5:6379":             "",
		"redis://u:p@h?addr=b&master_set=m": "",
		"http://10.0.0.5":                   "want redis://",
		"redis://h?adr=b":                   `parameter "adr" is unknown`,
	} {
		l, err := Load(nil, []string{"CONCERT_REDIS_URL=" + env, secret})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", env, err, want)
		}
		if err == nil && string(l.Config.RedisURL) != env {
			t.Errorf("%s is taken as %q", env, string(l.Config.RedisURL))
		}
	}
	_, err := Load(nil, []string{"CONCERT_REDIS_URL=redis://u:hidden@h"})
	if err == nil || !strings.Contains(err.Error(), "CONCERT_ADMIT_SECRET is unset") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("without a secret of one's own: %v", err)
	}
}
