package branding

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLogo is the most bytes a logo may have. It is part of every waiting
	// page; above about 2 KiB the page no longer fits a connection's first
	// round trip.
	maxLogo = 16 << 10
	// maxName is the most characters a name may have.
	maxName = 60
)

// LogoType returns the media type of a logo: SVG, PNG, JPEG, GIF or WebP.
func LogoType(file []byte) (string, error) {
	if len(file) > maxLogo {
		return "", fmt.Errorf("has %d bytes, want at most %d", len(file), maxLogo)
	}
	switch kind := http.DetectContentType(file); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind, nil
	}
	if isSVG(file) {
		return "image/svg+xml", nil
	}
	return "", errors.New("is no picture in SVG, PNG, JPEG, GIF or WebP")
}

// isSVG reports whether the file's first element is svg.
func isSVG(file []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(file))
	for {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		if e, ok := token.(xml.StartElement); ok {
			return e.Name.Local == "svg"
		}
	}
}

// CheckName reports what is wrong with a name.
func CheckName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return errors.New("is not in UTF-8")
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("has more than %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("holds a control character")
	case name != strings.TrimSpace(name):
		return errors.New("begins or ends with a space")
	}
	return nil
}
