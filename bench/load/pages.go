package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// Pages has visitors ask for a page through every proxy as fast as they can. It
// takes Rounds times Slice for each.
func Pages(ctx context.Context, s Settings) (*PagesReport, error) {
	rows, err := onPages(ctx, s, false, (*crowd).spend, func(targets []*target) error {
		if s.Profile == "" {
			return nil
		}
		return profile(ctx, targets[1], s.Profile)
	})
	return &PagesReport{s, rows}, err
}

// onPages loads every proxy in front of one origin, and asks the origin directly
// as well if that is wanted, as the first target. Then, when all went well, it
// calls then.
func onPages(ctx context.Context, s Settings, direct bool, l load, then func([]*target) error) ([]Row, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := &rig{Settings: s, ctx: ctx}
	defer r.close()
	origin, err := r.play(roleOrigin, s.Size, "")
	if err != nil {
		return nil, err
	}
	targets, err := r.proxies(origin.addr)
	if err != nil {
		return nil, err
	}
	if direct {
		targets = append([]*target{{name: "the origin, asked directly", addr: origin.addr, pid: origin.pid()}}, targets...)
	}
	if err := r.meet(targets); err != nil {
		return nil, err
	}
	rows, err := r.rounds(targets, l)
	if err == nil {
		err = then(targets)
	}
	return rows, err
}

// profileTime is how long Concert is watched for a profile.
const profileTime = 5 * time.Second

// profile writes a profile of a Concert under load to a file.
func profile(ctx context.Context, t *target, file string) error {
	loaded := make(chan error, 1)
	go func() { // ends a second after the profile does
		_, err := t.crowd.spend(profileTime + time.Second)
		loaded <- err
	}()
	url := fmt.Sprintf("http://%s/_room/debug/profile?seconds=%d", t.addr, int(profileTime.Seconds()))
	err := fetch(ctx, url, file)
	if lerr := <-loaded; err == nil {
		err = lerr
	}
	return err
}

// fetch writes what an operator is answered to a file.
func fetch(ctx context.Context, url, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	_, err = io.Copy(out, resp.Body)
	return err
}

// Paced has visitors ask for a page at Settings.Rate, which leaves every proxy
// idle most of the time, and compares the latency with that of asking the
// origin itself. It takes Rounds times Slice for each and for the origin.
func Paced(ctx context.Context, s Settings) (*PacedReport, error) {
	rows, err := onPages(ctx, s, true, func(c *crowd, slice time.Duration) ([]time.Duration, error) {
		return c.pace(s.Rate, slice)
	}, func([]*target) error { return nil })
	return &PacedReport{s, rows}, err
}
