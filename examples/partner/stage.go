package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// signatureHeader carries a partner's signature. The origin never sees it.
const signatureHeader = "Partner-Signature"

// partnerStage lets page requests with a good signature past the line. They
// take no slot, so the site must be able to stand what partners send.
type partnerStage struct{ key []byte }

var _ pipeline.Stage = (*partnerStage)(nil)

// Name implements pipeline.Stage.
func (*partnerStage) Name() string { return "partner" }

// Classes implements pipeline.Stage: assets and streams have guards of their own.
func (*partnerStage) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Page) }

// Enter makes a signed page request a bypass for the stages behind.
func (s *partnerStage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	signature := v.R.Header.Get(signatureHeader)
	if signature == "" {
		return pipeline.Next, nil
	}
	delete(v.R.Header, signatureHeader)
	if s.valid(signature, v.Path.Clean, v.Start) {
		v.Class = pipeline.Bypass
	}
	return pipeline.Next, nil
}

// valid accepts signatures of this minute and the one before.
func (s *partnerStage) valid(signature, path string, now time.Time) bool {
	minute, mac, ok := strings.Cut(signature, ".")
	sent, err := strconv.ParseInt(minute, 10, 64)
	if age := now.Unix()/60 - sent; !ok || err != nil || age < 0 || age > 1 {
		return false
	}
	got, err := hex.DecodeString(mac)
	return err == nil && hmac.Equal(got, sign(s.key, minute, path))
}

// sign is what a partner does.
func sign(key []byte, minute, path string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(minute + " " + path))
	return h.Sum(nil)
}
