package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/jsonbody"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/rooms"
	"github.com/andreimerlescu/concert/stages/operations"
)

// act wraps what operators can do: one act after the other, none while another
// process takes over, and none that waits for its body meanwhile. Reading goes
// past all that.
func (a *App) act(serve func(*pipeline.Visit)) func(*pipeline.Visit) {
	return func(v *pipeline.Visit) {
		if v.R.Method == http.MethodGet || v.R.Method == http.MethodHead {
			serve(v)
			return
		}
		control := http.NewResponseController(v.W)
		_ = control.SetReadDeadline(time.Now().Add(a.cfg.Load().BodyTimeout)) // not every writer can
		body, err := io.ReadAll(v.R.Body)
		_ = control.SetReadDeadline(time.Time{}) // else it would pass for the operator's leaving
		if err != nil {
			operations.WriteError(v, bodyStatus(err), fmt.Sprintf("read the body: %v", err))
			return
		}
		v.R.Body = io.NopCloser(bytes.NewReader(body))
		a.change.Lock()
		defer a.change.Unlock()
		if a.frozen {
			v.W.Header().Set("Retry-After", "1")
			operations.WriteError(v, http.StatusServiceUnavailable, ErrReplaced.Error())
			return
		}
		serve(v)
	}
}

// bodyStatus is the status for a body that cannot be read.
func bodyStatus(err error) int {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// serveCap changes the page capacity: {"cap": n}, or that of an inline room:
// {"cap": n, "room": id}. Called with change held.
func (a *App) serveCap(v *pipeline.Visit) {
	n, room, err := readCap(v.R.Body)
	if err != nil {
		operations.WriteError(v, http.StatusBadRequest, err.Error())
		return
	}
	l := a.line
	if room == "" {
		err = a.setCap(v.R.Context(), byToken(v), n)
	} else if l, err = a.setRoomCap(v.R.Context(), byToken(v), room, n); errors.Is(err, rooms.ErrUnknown) {
		operations.WriteError(v, http.StatusNotFound, err.Error())
		return
	}
	if err != nil {
		writeEditError(v, err)
		return
	}
	operations.WriteJSON(v, http.StatusOK, map[string]int{"cap": n, "occupancy": l.Stats(time.Now()).InFlight})
}

// setRoomCap changes the cap of an inline room, with change held, and returns its
// line.
func (a *App) setRoomCap(ctx context.Context, by persist.By, id string, n int) (line.Line, error) {
	list, err := a.cfg.Load().Rooms.With(id, map[string]json.RawMessage{"cap": json.RawMessage(strconv.Itoa(n))}, false)
	if err != nil {
		return nil, err
	}
	if _, err := a.edit(ctx, changing(by, config.Changes{Set: map[string]json.RawMessage{"rooms": list}})); err != nil {
		return nil, err
	}
	return a.inline.get(id).line, nil
}

// readCap reads {"cap": n}, with or without a room, and nothing else.
func readCap(body io.Reader) (n int, room string, err error) {
	var in struct {
		Cap  *int32 `json:"cap"`
		Room string `json:"room"`
	}
	if err := jsonbody.Decode(body, &in); err != nil {
		return 0, "", fmt.Errorf(`body must be {"cap": n} with a whole number n: %w`, err)
	}
	switch {
	case in.Cap == nil:
		return 0, "", errors.New(`body must be {"cap": n}: cap is missing`)
	case *in.Cap < 1:
		return 0, "", fmt.Errorf("cap %d is not accepted: -cap takes a whole number from 1 to 2147483647", *in.Cap)
	}
	return int(*in.Cap), in.Room, nil
}
