package upstream

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

func TestFailuresDoNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log, f := slog.New(slog.NewTextHandler(&b, nil)), &failures{}
		v := &pipeline.Visit{R: httptest.NewRequest("GET", "/", nil)}
		fail := func() { f.warn(log, v, pipeline.OriginDown, errors.New("refused")) }
		lines := func() int { return strings.Count(b.String(), "\n") }
		for range 1000 {
			fail()
		}
		if lines() != 1 {
			t.Errorf("%d lines for 1000 failures at once, want 1", lines())
		}
		time.Sleep(warnEvery)
		fail()
		if lines() != 2 || !strings.Contains(b.String(), "not_logged_since=999") {
			t.Errorf("after %v: %d lines, want 2, the second with the number kept back:\n%s", warnEvery, lines(), &b)
		}
		time.Sleep(time.Hour)
		fail()
		if !strings.HasSuffix(b.String(), "not_logged_since=0\n") {
			t.Errorf("a single failure later:\n%s", &b)
		}
	})
}
