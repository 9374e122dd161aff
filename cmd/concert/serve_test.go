package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
)

func TestDurationsInJSONAreSeconds(t *testing.T) {
	var b bytes.Buffer
	newLogger(config.JSONLog, &b, slog.LevelInfo).Info("x", "took", 1500*time.Millisecond, "n", 7)
	var line struct {
		Took float64
		N    int
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || line.Took != 1.5 || line.N != 7 {
		t.Errorf("%s is read as %+v, %v; want took 1.5 and n 7", &b, line, err)
	}
}
