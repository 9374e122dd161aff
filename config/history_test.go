package config

import (
	"strings"
	"testing"
	"time"
)

func TestHistoryFile(t *testing.T) {
	f := func(log, dir, want string) {
		t.Helper()
		l, err := Load([]string{"-history-log", log, "-data-dir", dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Config.HistoryFile(); got != want {
			t.Errorf("log %q, directory %q: %q, want %q", log, dir, got, want)
		}
	}
	dir := t.TempDir()
	f("", dir, dir+"/history.jsonl")
	f("", "", "")
	for _, word := range []string{"off", "OFF", "none", "None", "false", "0"} {
		f(word, dir, "")
	}
	f("./none", dir, "./none")
	f("other.jsonl", "", "other.jsonl")
}

func TestNaddrVariables(t *testing.T) {
	l, err := Load([]string{"-data-dir", ""}, []string{"CONCERT_ADMIT_SECRET=" + strings.Repeat("x", 64), "NADDR_DATA=x.tsv.gz", "NADDR_DATA_POLL=off", "NADDR_ADDR=naddr:8088"})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Config; c.NaddrData != "x.tsv.gz" || c.NaddrDataPoll != 0 || c.NaddrAddr != "naddr:8088" || len(l.Warnings) > 0 {
		t.Errorf("%q %v %q, warnings %q", c.NaddrData, c.NaddrDataPoll, c.NaddrAddr, l.Warnings)
	}
	f := func(variable string, ok bool) {
		t.Helper()
		if _, err := Load([]string{"-data-dir", ""}, []string{variable}); (err == nil) != ok {
			t.Errorf("%s: %v", variable, err)
		}
	}
	f("NADDR_DATA_POLL="+time.Second.String(), true)
	f("NADDR_DATA_POLL=0", true)
	f("NADDR_DATA_POLL=999ms", false)
	f("NADDR_DATA_POLL=never", false)
	f("NADDR_ADDR=https://naddr.example/x", true)
	f("NADDR_ADDR=naddr", false)
	f("NADDR_ADDR=http://user:secret@naddr:80", false)
}
