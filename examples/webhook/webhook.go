package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// maxBody is the largest webhook that is read, in bytes.
const maxBody = 1 << 16

// event is what is read of a webhook.
type event struct {
	Type    string `json:"type"`
	Payment struct {
		ID        string `json:"id"`
		Reference string `json:"reference"`
	} `json:"payment"`
}

// webhook takes the provider's events.
type webhook struct {
	secret []byte
	now    func() time.Time
	seller seller
	log    *slog.Logger
}

// ServeHTTP answers 2xx when nothing is left to be done with the event, so
// that the provider stops repeating it.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// Over the bytes as they came, before anything in them is believed.
	if err := verify(h.secret, r.Header.Get(signatureHeader), body, h.now()); err != nil {
		h.log.Warn("webhook refused", "error", err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		h.log.Warn("webhook not understood", "error", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(h.handle(r.Context(), e))
}

func (h *webhook) handle(ctx context.Context, e event) int {
	if e.Type != "payment.succeeded" || e.Payment.ID == "" || e.Payment.Reference == "" {
		return http.StatusNoContent // somebody else's business
	}
	status, answer, err := h.seller.promote(ctx, e.Payment.ID, e.Payment.Reference)
	switch {
	case err != nil || status >= 500 || status == http.StatusTooManyRequests:
		h.log.Error("Concert cannot be asked now; the provider will repeat the event", "payment", e.Payment.ID, "status", status, "error", err)
		return http.StatusServiceUnavailable
	case status == http.StatusOK:
		h.log.Info("promoted", "payment", e.Payment.ID, "answer", answer)
		return http.StatusOK
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		h.log.Error("Concert does not accept the admin token", "status", status)
		return http.StatusServiceUnavailable
	default: // 404, 409, 410: the place is gone, and paid for
		h.log.Error("to be refunded: the ticket cannot be promoted", "payment", e.Payment.ID, "status", status, "answer", answer)
		return http.StatusOK
	}
}

// seller calls Concert.
type seller struct {
	client  *http.Client
	concert string // its URL, without a slash at the end
	token   string
}

// promote has Concert move the ticket that ref names to the front. The
// payment's id makes it safe to call again.
func (s *seller) promote(ctx context.Context, payment, ref string) (status int, answer string, err error) {
	body, err := json.Marshal(map[string]string{"ref": ref, "payment": payment})
	if err != nil {
		return 0, "", fmt.Errorf("encode the promotion: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.concert+"/_room/promote", bytes.NewReader(body))
	if err != nil {
		return 0, "", fmt.Errorf("ask for the promotion: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("ask for the promotion: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it matters
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return 0, "", fmt.Errorf("read the answer to the promotion: %w", err)
	}
	return resp.StatusCode, string(bytes.TrimSpace(text)), nil
}
