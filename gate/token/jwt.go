package token

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/signed"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// issuer is who signs.
	issuer = "concert"
	// Leeway is how far the clocks of a site and of the waiting room may be
	// apart.
	Leeway = 30 * time.Second
	// MaxToken is the longest token that is looked at, in bytes.
	MaxToken = 4096

	queueType  jose.ContentType = "concert-queue+jwt"
	accessType jose.ContentType = "concert-access+jwt"
)

// ErrInvalid is the error of every token that is not good, wrapped with why.
var ErrInvalid = errors.New("the token is not valid")

// queueClaims are what a queue token says.
type queueClaims struct {
	jwt.Claims
	Room   string `json:"room"`
	Ticket uint64 `json:"ticket"`
	Turn   uint32 `json:"turn"`
	Epoch  int64  `json:"epoch"`
	Run    int64  `json:"run"`
}

// Queue makes a queue token for a ticket, good for as long as the ticket lives.
func (r *Ring) Queue(room *gate.Room, t gate.Ticket, now time.Time) (string, error) {
	return sign(r.now.Load().signer(now).queue, queueClaims{
		Claims: jwt.Claims{
			Issuer: issuer, Audience: jwt.Audience{gate.QueueAudience},
			ID:       fmt.Sprintf("%s.%d", ticketID(room.ID, t), t.Turn),
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(room.QueueTTL())),
		},
		Room: room.ID, Ticket: t.Number, Turn: t.Turn, Epoch: t.Epoch, Run: t.Run,
	})
}

// ParseQueue checks a queue token.
func (r *Ring) ParseQueue(raw string, now time.Time) (room string, t gate.Ticket, err error) {
	var c queueClaims
	if err := verify(r.Keys(now), raw, queueType, &c, &c.Claims, gate.QueueAudience, now); err != nil {
		return "", gate.Ticket{}, err
	}
	return c.Room, gate.Ticket{Epoch: c.Epoch, Number: c.Ticket, Run: c.Run, Turn: c.Turn}, nil
}

// Access is what an access token says.
type Access struct {
	ID       string // unique for each ticket
	Room     string
	Ticket   uint64
	Audience string
	Issued   time.Time
	Expires  time.Time
}

// accessClaims are what an access token says.
type accessClaims struct {
	jwt.Claims
	Room   string `json:"room"`
	Ticket uint64 `json:"ticket"`
}

// Access makes the access token of a grant: for the same one always with the
// same id and times.
func (r *Ring) Access(g gate.Grant, now time.Time) (string, error) {
	at := jwt.NewNumericDate(g.At)
	return sign(r.now.Load().signer(now).access, accessClaims{
		Claims: jwt.Claims{
			Issuer: issuer, Subject: g.Room.ID + "/" + strconv.FormatUint(g.Ticket.Number, 10),
			Audience: jwt.Audience{g.Room.Audience}, ID: ticketID(g.Room.ID, g.Ticket),
			IssuedAt: at, NotBefore: at, Expiry: jwt.NewNumericDate(g.Until),
		},
		Room: g.Room.ID, Ticket: g.Ticket.Number,
	})
}

// VerifyAccess checks an access token against a set of public keys. The error
// wraps ErrInvalid.
func VerifyAccess(set *jose.JSONWebKeySet, raw, audience string, now time.Time) (Access, error) {
	var c accessClaims
	if audience == "" || audience == gate.QueueAudience {
		return Access{}, fmt.Errorf("%w: no site has the audience %q", ErrInvalid, audience)
	}
	if err := verify(set, raw, accessType, &c, &c.Claims, audience, now); err != nil {
		return Access{}, err
	}
	if c.ID == "" || c.Room == "" {
		return Access{}, fmt.Errorf("%w: it lacks jti or room", ErrInvalid)
	}
	return Access{ID: c.ID, Room: c.Room, Ticket: c.Ticket, Audience: audience, Issued: c.IssuedAt.Time(), Expires: c.Expiry.Time()}, nil
}

// LooksLikeAccess reports whether a text could be an access token. It says
// nothing about whether it is good.
func LooksLikeAccess(raw string) bool {
	head, rest, ok := strings.Cut(raw, ".")
	if !ok || strings.Count(rest, ".") != 1 || len(raw) > MaxToken {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		Type string `json:"typ"`
	}
	return err == nil && json.Unmarshal(text, &header) == nil && header.Type == string(accessType)
}

// ParseAccess is VerifyAccess for the waiting room itself, which takes a token
// for any one audience and says which.
func (r *Ring) ParseAccess(raw string, now time.Time) (Access, error) {
	var c accessClaims
	set := r.Keys(now)
	if err := verify(set, raw, accessType, &c, &c.Claims, "", now); err != nil {
		return Access{}, err
	}
	if len(c.Audience) != 1 {
		return Access{}, fmt.Errorf("%w: it has %d audiences", ErrInvalid, len(c.Audience))
	}
	return VerifyAccess(set, raw, c.Audience[0], now)
}

func sign(s jose.Signer, claims any) (string, error) {
	raw, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return raw, nil
}

// verify checks signature, header and registered claims; an empty audience is
// not checked. Only EdDSA is ever tried, and only with the key that the header
// names: a token that says "none", or is signed with a public key as if it were a
// secret, is no better than any other text.
func verify(set *jose.JSONWebKeySet, raw string, kind jose.ContentType, into any, claims *jwt.Claims, audience string, now time.Time) error {
	if len(raw) > MaxToken {
		return fmt.Errorf("%w: it is longer than %d bytes", ErrInvalid, MaxToken)
	}
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(parsed.Headers) != 1 {
		return fmt.Errorf("%w: it has %d signatures", ErrInvalid, len(parsed.Headers))
	}
	head := parsed.Headers[0]
	if head.ExtraHeaders[jose.HeaderType] != string(kind) {
		return fmt.Errorf("%w: it is not of the type %s", ErrInvalid, kind)
	}
	key := set.Key(head.KeyID)
	if head.KeyID == "" || len(key) != 1 {
		return fmt.Errorf("%w: its key %q is not published", ErrInvalid, head.KeyID)
	}
	if err := parsed.Claims(key[0], into); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if claims.Expiry == nil || claims.IssuedAt == nil {
		return fmt.Errorf("%w: it lacks exp or iat", ErrInvalid)
	}
	expected := jwt.Expected{Issuer: issuer, Time: now}
	if audience != "" {
		expected.AnyAudience = jwt.Audience{audience}
	}
	err = claims.ValidateWithLeeway(expected, Leeway)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// ticketID names a ticket for ever.
func ticketID(room string, t gate.Ticket) string {
	return fmt.Sprintf("%s.%x.%x.%d", room, t.Epoch, t.Run, t.Number)
}

// Resume makes the secret with which the owner of a ticket gets a new queue
// token. It begins with the room's id.
func (r *Ring) Resume(room string, t gate.Ticket) string {
	payload := binary.BigEndian.AppendUint64(nil, uint64(t.Epoch))
	payload = binary.BigEndian.AppendUint64(payload, uint64(t.Run))
	payload = binary.BigEndian.AppendUint64(payload, t.Number)
	payload = append(payload, room...) // so that the secret is good for this room only
	return room + "." + string(r.now.Load().resume.AppendToken(nil, payload))
}

// ParseResume checks a resume secret.
func (r *Ring) ParseResume(secret string) (room string, t gate.Ticket, err error) {
	room, raw, _ := strings.Cut(secret, ".")
	payload, verdict := r.now.Load().resume.Open(nil, raw)
	if verdict != signed.Valid || len(payload) < 24 || string(payload[24:]) != room {
		return "", gate.Ticket{}, fmt.Errorf("%w: it is no resume secret of this waiting room", ErrInvalid)
	}
	word := func(i int) uint64 { return binary.BigEndian.Uint64(payload[8*i:]) }
	return room, gate.Ticket{Epoch: int64(word(0)), Run: int64(word(1)), Number: word(2)}, nil
}
