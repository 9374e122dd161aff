package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/andreimerlescu/concert/gate/token"
)

const keysUsage = `usage:
  concert keys new FILE       make a key file
  concert keys rotate FILE    add a key that signs from ten minutes on, and let the others run out
  concert keys list FILE      show the keys: from when each signs, until when it is published
  concert keys public FILE    print the public keys as a JSON Web Key Set
  concert keys secrets DIR    make all that deploy/ needs in DIR: signing_keys.json, admin_token,
                              redis_password, session_key and others; what is there already stays

A running Concert reads a changed file by itself within seconds.
`

// runKeys is the subcommand about the keys of off-site rooms.
func runKeys(_ context.Context, args, _ []string, stdout, stderr io.Writer) int {
	verbs := map[string]func(path string, now time.Time, stdout io.Writer) error{
		"new": newKeys, "rotate": rotateKeys, "list": listKeys, "public": publicKeys, "secrets": makeSecrets,
	}
	if len(args) == 1 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		fmt.Fprint(stdout, keysUsage)
		return exitOK
	}
	if len(args) != 2 || verbs[args[0]] == nil {
		fmt.Fprint(stderr, keysUsage)
		return exitUsage
	}
	if err := verbs[args[0]](args[1], time.Now(), stdout); err != nil {
		fmt.Fprintf(stderr, "concert keys %s: %v\n", args[0], err)
		return exitFailed
	}
	return exitOK
}

func newKeys(path string, now time.Time, _ io.Writer) error {
	f, err := token.NewFile(now)
	if err != nil {
		return err
	}
	if err := f.Write(path, true); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists: rotate it, or choose another name", path)
		}
		return err
	}
	return nil
}

func rotateKeys(path string, now time.Time, stdout io.Writer) error {
	f, err := token.ReadFile(path)
	if err != nil {
		return err
	}
	if err := f.Rotate(now); err != nil {
		return err
	}
	if err := f.Write(path, false); err != nil {
		return err
	}
	return listKeys(path, now, stdout)
}

func listKeys(path string, now time.Time, stdout io.Writer) error {
	f, err := token.ReadFile(path)
	if err != nil {
		return err
	}
	for _, k := range f.Keys {
		state := "signs from " + k.From.Format(time.RFC3339)
		if !k.Until.IsZero() {
			state += ", published until " + k.Until.Format(time.RFC3339)
		}
		if !k.Until.IsZero() && !k.Until.After(now) {
			state += " (over)"
		}
		if _, err := fmt.Fprintf(stdout, "%s  %s\n", k.JWK.KeyID, state); err != nil {
			return err
		}
	}
	return nil
}

func publicKeys(path string, now time.Time, stdout io.Writer) error {
	ring, err := token.Open(path, false, now)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(ring.Keys(now))
}

// secretFile is a file that makeSecrets makes.
type secretFile struct {
	name string
	make func() ([]byte, error)
}

// secretFiles are those of a directory, in the order in which some are made of
// others.
func secretFiles(dir string, now time.Time) []secretFile {
	return []secretFile{
		{"signing_keys.json", func() ([]byte, error) { return freshKeys(now) }},
		{"admin_token", func() ([]byte, error) { return hexSecret(), nil }},
		{"session_key", func() ([]byte, error) { return hexSecret(), nil }},
		{"admit_secret", func() ([]byte, error) { return hexSecret(), nil }},
		{"redis_password", func() ([]byte, error) { return hexSecret(), nil }},
		{"redis.conf", func() ([]byte, error) { return filled(dir, "requirepass %s\n", "redis_password") }},
		{"concert.env", func() ([]byte, error) {
			return filled(dir, "CONCERT_ADMIN_TOKEN=%s\nCONCERT_ADMIT_SECRET=%s\nCONCERT_REDIS_URL=redis://:%s@redis:6379/0\n", "admin_token", "admit_secret", "redis_password")
		}},
		{"target.env", func() ([]byte, error) { return filled(dir, "SESSION_KEY=%s\n", "session_key") }},
	}
}

// makeSecrets makes what deploy/ gives its containers. The directory is for its
// owner alone; the files in it can be read by all, because a container's user
// is somebody else.
func makeSecrets(dir string, now time.Time, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	for _, file := range secretFiles(dir, now) {
		path := filepath.Join(dir, file.name)
		if _, err := os.Stat(path); err == nil {
			fmt.Fprintln(stdout, "kept", path)
			continue
		}
		text, err := file.make()
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(stdout, "made", path)
	}
	return nil
}

func freshKeys(now time.Time) ([]byte, error) {
	f, err := token.NewFile(now)
	if err != nil {
		return nil, err
	}
	return f.Encode()
}

func hexSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	return []byte(hex.EncodeToString(secret))
}

// filled puts what stands in the files into a text.
func filled(dir, text string, files ...string) ([]byte, error) {
	var values []any
	for _, name := range files {
		value, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		values = append(values, bytes.TrimSpace(value))
	}
	return fmt.Appendf(nil, text, values...), nil
}
