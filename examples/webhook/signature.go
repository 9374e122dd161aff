package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// signatureHeader carries the time of sending and signatures of it and the
// body, one for each secret in use: providers send two while one is replaced.
const signatureHeader = "Provider-Signature"

// tolerance is how old a webhook may be: longer than the clocks are apart, and
// too short for one that was overheard to be of use.
const tolerance = 5 * time.Minute

var errSignature = errors.New("no signature matches")

// verify checks that body was sent by the holder of secret a moment ago.
func verify(secret []byte, header string, body []byte, now time.Time) error {
	var stamp string
	var signatures []string
	for part := range strings.SplitSeq(header, ",") {
		switch key, value, _ := strings.Cut(strings.TrimSpace(part), "="); key {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	sent, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("the signature has no time: %w", err)
	}
	want := sign(secret, stamp, body)
	for _, s := range signatures {
		got, err := hex.DecodeString(s)
		if err != nil || !hmac.Equal(got, want) {
			continue
		}
		if age := now.Sub(time.Unix(sent, 0)); age.Abs() > tolerance {
			return fmt.Errorf("the signature is %v old", age)
		}
		return nil
	}
	return errSignature
}

func sign(secret []byte, stamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(stamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}
