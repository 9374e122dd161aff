package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const logo = `<svg xmlns="http://www.w3.org/2000/svg"/>`

func logoFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLook(t *testing.T) {
	path := logoFile(t, "logo.svg", logo)
	c := mustLoad(t, []string{"-brand-name=Café Nord", "-brand-logo", path, "-message=Soon. | de=Bald.", "-message-level=warning", "-crawler-answer=line"},
		[]string{"CONCERT_BRAND_COLOR=#e05"}).Config
	if c.BrandName != "Café Nord" || string(c.BrandLogo.Content) != logo || c.BrandColor != "#e05" ||
		c.Message != "Soon. | de=Bald." || !c.MessageWarning || !c.CrawlersWait {
		t.Errorf("got %q %q %q %q %v %v", c.BrandName, c.BrandLogo.Content, c.BrandColor, c.Message, c.MessageWarning, c.CrawlersWait)
	}
	if c := Default(); c.MessageWarning || c.CrawlersWait || c.BrandLogo.Content != nil {
		t.Error("the defaults are not the quiet ones")
	}
}

func TestLookRefuses(t *testing.T) {
	for arg, want := range map[string]string{
		"-brand-name=" + strings.Repeat("x", 61):                             "it has more than 60 characters",
		"-brand-color=red":                                                   `-brand-color "red": want a color such as #1a56c4, or nothing`,
		"-message=a|b":                                                       "it has two wordings for the same readers",
		"-message-level=loud":                                                "want info or warning",
		"-crawler-answer=404":                                                "want 503 or line",
		"-brand-logo=" + logoFile(t, "secrets", "TOKEN=x"):                   "it is no picture",
		"-brand-logo=" + filepath.Join(t.TempDir(), "none"):                  "no such file",
		"-brand-logo=" + logoFile(t, "empty.svg", ""):                        "it is no picture",
		"-brand-logo=" + logoFile(t, "html.svg", "<html><svg></svg></html>"): "it is no picture",
	} {
		got := problemsOf(t, []string{arg}, nil)[0]
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", arg, got, want)
		}
	}
}

// A logo whose path stays and whose content changes is a change, of the logo
// alone.
func TestDiffSeesTheLogo(t *testing.T) {
	path := logoFile(t, "logo.svg", logo)
	l := mustLoad(t, []string{"-brand-logo", path}, nil)
	if err := os.WriteFile(path, []byte("<svg/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := l.Reload()
	if err != nil {
		t.Fatal(err)
	}
	changes := l.Diff(next)
	if len(changes) != 1 || changes[0].Key != "brand_logo" || !changes[0].Live {
		t.Errorf("changes %+v", changes)
	}
}

// Whoever may change settings must not be able to publish any file.
func TestStoredLogoMustBeAPicture(t *testing.T) {
	quoted, _ := json.Marshal(logoFile(t, "concert.svg", "CONCERT_ADMIN_TOKEN=x"))
	_, err := loadStored(t, `{}`).With(Changes{Set: map[string]json.RawMessage{"brand_logo": quoted}})
	if err == nil || !strings.Contains(err.Error(), "it is no picture") {
		t.Errorf("error %v", err)
	}
}
