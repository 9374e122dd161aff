package branding

import (
	"strings"
	"testing"
)

func TestParseColor(t *testing.T) {
	f := func(text string, want Color) {
		t.Helper()
		got, err := ParseColor(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	f("#1a56C4", Color{0x1a, 0x56, 0xc4})
	f("#f0a", Color{0xff, 0, 0xaa})
	f("#000000", Color{})
	for _, bad := range []string{"", "#", "red", "1a56c4", "#1a56c", "#1a56c4f", "#gggggg", "#-1a56c", "#+12", "#1 2", "ü#12345"} {
		if c, err := ParseColor(bad); err == nil {
			t.Errorf("%q was read as %v", bad, c)
		}
	}
}

// TestContrast takes the pairs whose ratio the definition states, and two
// well-known ones.
func TestContrast(t *testing.T) {
	white, black := Color{255, 255, 255}, Color{}
	f := func(a, b Color, low, high float64) {
		t.Helper()
		if got := Contrast(a, b); got < low || got > high || got != Contrast(b, a) {
			t.Errorf("%v on %v: %v", a, b, got)
		}
	}
	f(white, black, 21, 21)
	f(white, white, 1, 1)
	f(Color{0x77, 0x77, 0x77}, white, 4.47, 4.49)
	f(Color{0x76, 0x76, 0x76}, white, 4.53, 4.55)
}

func TestReadableOn(t *testing.T) {
	backgrounds := []Color{{255, 255, 255}, {0x17, 0x1c, 0x22}, {128, 128, 128}, {0, 0, 0}}
	for r := 0; r < 256; r += 51 {
		for g := 0; g < 256; g += 51 {
			for b := 0; b < 256; b += 51 {
				c := Color{uint8(r), uint8(g), uint8(b)}
				for _, back := range backgrounds {
					shade := c.ReadableOn(back)
					if got := Contrast(shade, back); got < MinContrast {
						t.Errorf("%v on %v became %v with %.2f", c, back, shade, got)
					}
					if Contrast(c, back) >= MinContrast && shade != c {
						t.Errorf("%v on %v is readable, and became %v", c, back, shade)
					}
				}
			}
		}
	}
}

func TestLogoType(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		got, err := LogoType([]byte(file))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%.20q: %q, %v", file, got, err)
		}
	}
	f("\x89PNG\r\n\x1a\n…", "image/png")
	f("\xff\xd8\xff…", "image/jpeg")
	f("GIF89a…", "image/gif")
	f("RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp")
	f(`<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml")
	f("<?xml version=\"1.0\"?>\n<!-- a logo --><svg></svg>", "image/svg+xml")
	f("<html><svg></svg></html>", "")
	f("svg", "")
	f("", "")
	f("<svg/>"+strings.Repeat(" ", maxLogo), "")
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"": true, "Café Nord": true, strings.Repeat("ü", maxName): true,
		strings.Repeat("ü", maxName+1): false, "a\nb": false, " a": false, "a\xff": false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
