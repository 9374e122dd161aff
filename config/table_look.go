package config

import (
	"github.com/andreimerlescu/concert/internal/branding"
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
)

// lookRows are what operators put of their own onto the built-in pages, and who
// gets them.
func lookRows() []Setting {
	return []Setting{{
		Key: "message", Group: GroupPage, Live: true,
		Help: "What to tell everybody in line, on the waiting page and in the status JSON. Other languages follow behind a bar: Doors open at ten. | de=Einlass ab zehn.",
		bind: checked(func(c *Config) *string { return &c.Message },
			"a line of text with, behind bars, wordings for some of "+language.Codes()+"; or nothing", checkMessage),
	}, {
		Key: "message_level", Default: "info", Group: GroupPage, Live: true,
		Help: "How grave -message is.",
		bind: choice(func(c *Config) *bool { return &c.MessageWarning }, option[bool]{"info", false}, option[bool]{"warning", true}),
	}, {
		Key: "brand_name", Group: GroupPage, Live: true,
		Help: "Name of the site, shown on the waiting page and in its title.",
		bind: checked(func(c *Config) *string { return &c.BrandName }, "a line of at most 60 characters, or nothing", func(v string) error { return asMisfit(branding.CheckName(v)) }),
	}, {
		Key: "brand_logo", Group: GroupPage, Live: true,
		Help: "Picture to show above the waiting page. It becomes a part of the page.",
		bind: picture(func(c *Config) *File { return &c.BrandLogo }),
	}, {
		Key: "brand_color", Group: GroupPage, Live: true,
		Help: "Color of the place in line, the progress and links. A darker or lighter shade is used where it could not be read.",
		bind: checked(func(c *Config) *string { return &c.BrandColor }, "a color such as #1a56c4, or nothing", checkColor),
	}, {
		Key: "crawler_answer", Default: "503", Group: GroupPage, Live: true,
		Help: "What search crawlers get while the site is busy: 503 tells them to come back later; line gives them a place like everybody. Previews of links and uptime monitors never take a place.",
		bind: choice(func(c *Config) *bool { return &c.CrawlersWait }, option[bool]{"503", false}, option[bool]{"line", true}),
	}}
}

// picture is a file that must hold a picture, whoever names it: else whoever
// may change settings could publish any file that the process can read.
func picture(at func(*Config) *File) binding {
	b := file(at).(bound[File])
	b.Want = "a picture (SVG, PNG, JPEG, GIF or WebP) of at most 16 KiB, or nothing"
	b.codec.check = func(f File) error {
		if f.Content == nil {
			return nil // there is none, or it is not read yet
		}
		_, err := branding.LogoType(f.Content)
		return asMisfit(err)
	}
	return b
}

func checkMessage(text string) error {
	_, err := notice.Parse(text)
	return asMisfit(err)
}

func checkColor(text string) error {
	if text == "" {
		return nil
	}
	if _, err := branding.ParseColor(text); err != nil {
		return misfit("")
	}
	return nil
}

// asMisfit turns what another package finds wrong into a misfit.
func asMisfit(err error) error {
	if err == nil {
		return nil
	}
	return misfit("it " + err.Error())
}
