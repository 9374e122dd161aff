package redisline

import (
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	for text, one := range map[string]bool{
		"redis://127.0.0.1:6379":                                           true,
		"redis://user:pass@host:6379/3":                                    true,
		"rediss://host":                                                    true,
		"unix:///run/redis.sock":                                           true,
		"redis://a:26379?addr=b:26379&master_set=m":                        false,
		"redis://a:26379?master_set=m":                                     false,
		"redis://a:6379?addr=b:6379&addr=c:6379":                           false,
		"valkey://host:6379?client_name=x&dial_timeout=1s&protocol=3&db=0": true,
	} {
		c, err := ParseURL(text)
		if err != nil || c.OneServer() != one {
			t.Errorf("%s: %v; one server %v, want %v", text, err, c != nil && c.OneServer(), one)
		}
	}
	for _, text := range []string{"http://host", "host:6379", "redis://host/x", "redis://host?adress=b", "redis://host:6379/1/2", "redis://secret:%zz@host"} {
		if _, err := ParseURL(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error without the password", text, err)
		}
	}
}

func TestDigest(t *testing.T) {
	marks, pace := readDigest("120000000 1000:0 1100:50 1200:200")
	if len(marks) != 3 || pace != 120 {
		t.Fatalf("%v, %v", marks, pace)
	}
	o := outage{marks: marks}
	for number, want := range map[uint64]float64{1: 0, 1000: 0, 1050: 25, 1100: 50, 1150: 125, 1200: 200, 1300: 201} {
		if got := o.aheadOf(number); got != want {
			t.Errorf("ahead of %d: %v, want %v", number, got, want)
		}
	}
	if none, pace := readDigest(""); none != nil || pace != 0 {
		t.Errorf("an empty digest: %v, %v", none, pace)
	}
}
