package signed

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// MinSecret is the fewest bytes a secret may have.
const MinSecret = 32

// ParseSecrets splits s at commas into secrets; white space around them is not
// part of them. The first one will sign and all will verify. Each needs at
// least [MinSecret] bytes: an error says which one is too short and never
// shows it.
func ParseSecrets(s string) ([][]byte, error) {
	var secrets [][]byte
	for part := range strings.SplitSeq(s, ",") {
		secrets = append(secrets, []byte(strings.TrimSpace(part)))
	}
	var problems []error
	for i, secret := range secrets {
		problems = append(problems, checkLength(i, len(secrets), secret))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return secrets, nil
}

func checkLength(i, n int, secret []byte) error {
	if len(secret) >= MinSecret {
		return nil
	}
	return fmt.Errorf("secret %d of %d has %d bytes, need at least %d", i+1, n, len(secret), MinSecret)
}

// RandomSecret returns a new secret, for when none is configured. Tokens
// signed with it are stale after a restart and in every other process.
func RandomSecret() []byte {
	secret := make([]byte, MinSecret)
	_, _ = rand.Read(secret) // never fails
	return secret
}
