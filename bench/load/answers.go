package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// Answers measures what Concert's own answers cost, each beside net/http's for
// an answer of as many bytes that never changes: the waiting page, a status
// poll, and the refusal of a banned client, all while the room is full.
func Answers(ctx context.Context, s Settings) (*AnswersReport, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := &rig{Settings: s, ctx: ctx}
	defer r.close()
	room, err := r.fullRoom()
	if err != nil {
		return nil, err
	}
	tickets, err := queue(ctx, room.addr, s.Connections, s.Waiting)
	if err != nil {
		return nil, fmt.Errorf("fill the line: %w", err)
	}
	if err := ban(ctx, room.addr, banned); err != nil {
		return nil, fmt.Errorf("ban a client: %w", err)
	}
	report := &AnswersReport{Settings: s}
	for _, kind := range kinds {
		a, err := r.answer(room, kind, tickets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		report.Answers = append(report.Answers, *a)
	}
	return report, nil
}

// fullRoom starts Concert before an origin that does not answer, with its one
// slot taken.
func (r *rig) fullRoom() (*target, error) {
	origin, err := r.play(roleStuck, r.Size, "")
	if err != nil {
		return nil, err
	}
	room, err := r.concert(r.Binary, origin.addr, "-cap", "1", "-max-queue", "0", "-upstream-timeout", "1h")
	if err != nil {
		return nil, err
	}
	first, err := dial(r.ctx, room.addr, 1)
	if err != nil {
		return nil, err
	}
	r.stops = append(r.stops, first.leave)
	_, err = first.clients[0].conn.Write([]byte(pageRequest + "\r\n"))
	return room, err
}

const banned = "203.0.113.66"

// from is the request for path of a client that a trusted proxy names.
func from(client, path, more string) []byte {
	return []byte("GET " + path + strings.Replace(strings.TrimPrefix(pageRequest, "GET /shop/item/42?ref=mail"), "203.0.113.9", client, 1) + more + "\r\n")
}

// queue has visitors come, each from an address of its own, and returns what
// each then sends as its Cookie field.
func queue(ctx context.Context, addr string, connections, visitors int) ([]string, error) {
	c, err := dial(ctx, addr, connections)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	tickets := make([]string, visitors)
	return tickets, c.share(visitors, func(v *client, i int) error {
		header, _, err := v.ask(from(visitor(i), "/shop/item/42", ""))
		if err == nil && header.Get("Concert-Queue") == "" {
			err = fmt.Errorf("%w: let in, where the room was to be full", errAnswer)
		}
		tickets[i] = cookieLine("session=abcdef", header)
		return err
	})
}

// visitor is the i-th address of 10.0.0.0/8.
func visitor(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

// ban has an operator ban a client for good.
func ban(ctx context.Context, addr, client string) error {
	body := fmt.Sprintf(`{"client": %q, "permanent": true}`, client)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/_room/abuse", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s", resp.Status)
	}
	return nil
}

// kind is one of Concert's own answers.
type kind struct {
	name    string
	status  string
	request func(i int, cookie string) []byte
}

var kinds = []kind{
	{"status poll", "200", func(i int, cookie string) []byte { return from(visitor(i), "/queue/status", cookie) }},
	{"waiting page", "200", func(i int, cookie string) []byte { return from(visitor(i), "/shop/item/42", cookie) }},
	{"refusal of a banned client", "403", func(int, string) []byte { return from(banned, "/shop/item/42", "") }},
}

// take has the visitors send these requests, in turns: each comes as late again
// as it can, since a ticket may poll once a second.
func (c *crowd) take(requests [][]byte, status string) {
	var turn atomic.Uint64
	for _, v := range c.clients {
		v.requests, v.turn, v.status = requests, &turn, []byte(status)
	}
}

// answer measures one kind.
func (r *rig) answer(room *target, k kind, tickets []string) (*Answer, error) {
	visitors, err := dial(r.ctx, room.addr, r.Connections)
	if err != nil {
		return nil, err
	}
	defer visitors.leave()
	requests := make([][]byte, len(tickets))
	for i, ticket := range tickets {
		requests[i] = k.request(i, ticket)
	}
	visitors.take(requests, k.status)
	first := visitors.clients[0]
	header, body, err := first.ask(requests[len(requests)-1])
	if err != nil {
		return nil, err
	}
	targets := []*target{nil, {name: "Concert", addr: room.addr, pid: room.pid, crowd: visitors}, nil}
	for i, role := range map[int]string{0: roleStatic, 2: roleDressed} {
		if targets[i], err = r.fixed(role, len(body), headerLines(header), requests); err != nil {
			return nil, err
		}
		defer targets[i].crowd.leave()
	}
	rows, err := r.rounds(targets, (*crowd).spend)
	if err == nil && r.Profile != "" {
		err = profile(r.ctx, targets[1], r.Profile+"."+strings.ReplaceAll(k.name, " ", "-"))
	}
	return &Answer{Name: k.name, Bytes: len(body), Rows: rows}, err
}

// fixed starts a server of net/http's with an answer that never changes, and
// visitors who send it the same requests.
func (r *rig) fixed(role string, size int, header string, requests [][]byte) (*target, error) {
	server, err := r.play(role, size, header)
	if err != nil {
		return nil, err
	}
	visitors, err := dial(r.ctx, server.addr, r.Connections)
	if err != nil {
		return nil, err
	}
	visitors.take(requests, "200")
	return &target{name: "net/http, " + role, addr: server.addr, pid: server.pid(), crowd: visitors}, nil
}
