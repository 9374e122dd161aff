package branding

import (
	"fmt"
	"math"
	"strconv"
)

// Color is an opaque colour in sRGB.
type Color struct{ R, G, B uint8 }

// MinContrast is the contrast that text needs against what is behind it (WCAG
// 2.2, success criterion 1.4.3, level AA).
const MinContrast = 4.5

// ParseColor reads #rgb or #rrggbb.
func ParseColor(text string) (Color, error) {
	digits := text
	if len(text) == 4 {
		digits = string([]byte{text[0], text[1], text[1], text[2], text[2], text[3], text[3]})
	}
	n, err := strconv.ParseUint(digits[min(1, len(digits)):], 16, 32)
	if len(digits) != 7 || digits[0] != '#' || err != nil {
		return Color{}, fmt.Errorf("%q is no colour of the form #rrggbb", text)
	}
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

// String returns the colour as #rrggbb.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Contrast returns the contrast ratio of two colours, 1 to 21 (WCAG 2.2,
// definition of contrast ratio).
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance, 0 to 1 (WCAG 2.2).
func (c Color) luminance() float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// ReadableOn returns the colour, or the nearest of its shades that text can
// have on the background: darker on a light one, lighter on a dark one.
func (c Color) ReadableOn(background Color) Color {
	end := Color{}
	if Contrast(Color{255, 255, 255}, background) > Contrast(end, background) {
		end = Color{255, 255, 255}
	}
	const steps = 64
	for i := range steps {
		if shade := c.mix(end, float64(i)/steps); Contrast(shade, background) >= MinContrast {
			return shade
		}
	}
	return end
}

// mix goes the share of the way from c to another colour.
func (c Color) mix(to Color, share float64) Color {
	part := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return Color{part(c.R, to.R), part(c.G, to.G), part(c.B, to.B)}
}
