package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/andreimerlescu/concert/config"
)

// exitUnreached is the exit status of ctl when no portal answered.
const exitUnreached = 3

const ctlUsage = `concert ctl tells a running Concert what to do, through its operator portal.

  concert ctl [-url URL] [-env-file FILE] [-json] COMMAND

The admin token is read from CONCERT_ADMIN_TOKEN, the address from -url or
CONCERT_PORTAL_LISTEN. -env-file names a file that sets both.

`

// errUsage is a command line that makes no sense; its text says what would.
type errUsage struct{ error }

func usagef(format string, args ...any) error { return errUsage{fmt.Errorf(format, args...)} }

// ctlCommand is a row of the table of what ctl does.
type ctlCommand struct {
	name, args, help string
	run              func(*ctl, []string) error
}

func ctlCommands() []ctlCommand {
	return []ctlCommand{
		{"stats", "", "the room and the line in a few lines; -all for every counter", (*ctl).stats},
		{"cap", "[N]", "show, or change, how many page requests may be at the origin", (*ctl).cap},
		{"pause", "", "let nobody in; newcomers get places in line", (*ctl).pause},
		{"resume", "", "let visitors in again", (*ctl).resume},
		{"queue", "[WHO]", "the line; or one visitor, by address, ticket, reference or id, and why they wait", (*ctl).queue},
		{"promote", "ID…", "move visitors to the front of the line", (*ctl).promote},
		{"remove", "ID…", "take visitors out of the line; -ban bans their addresses as well", (*ctl).remove},
		{"rooms", "[ID [MEMBER=VALUE…]]", "rooms of the site and off-site; one of them, or change it; -new -kind site|gate, -delete, -do pause|resume|open|reset", (*ctl).rooms},
		{"bans", "", "the bans in force", (*ctl).bans},
		{"ban", "CLIENT", "ban an address or a range, for 1h; -for 24h, -permanent, -note TEXT", (*ctl).ban},
		{"unban", "CLIENT", "lift a ban and forget the client", (*ctl).unban},
		{"settings", "[KEY[=VALUE]…]", "show settings, or change them; -reset, -undo, -dry-run", (*ctl).settings},
	}
}

// ctl is one run of the subcommand.
type ctl struct {
	ctx     context.Context
	out     io.Writer
	url     string // without a slash at the end
	token   string
	rawJSON bool
	flags   *flag.FlagSet
}

// runCtl is the subcommand that talks to a running Concert.
func runCtl(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	c := &ctl{ctx: ctx, out: stdout, flags: flag.NewFlagSet("concert ctl", flag.ContinueOnError)}
	err := c.start(args, environ)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, flag.ErrHelp) {
		writeCtlHelp(stdout)
		return exitOK
	}
	fmt.Fprintln(stderr, "concert ctl:", err)
	if _, wrong := errors.AsType[errUsage](err); wrong {
		fmt.Fprintln(stderr, "concert ctl -help lists what there is.")
		return exitUsage
	}
	if _, unreached := errors.AsType[errUnreached](err); unreached {
		return exitUnreached
	}
	return exitFailed
}

// start reads the command line up to the command, and runs that.
func (c *ctl) start(args, environ []string) error {
	c.flags.SetOutput(io.Discard)
	c.flags.StringVar(&c.url, "url", "", "")
	envFile := c.flags.String("env-file", "", "")
	c.flags.BoolVar(&c.rawJSON, "json", false, "")
	if err := c.flags.Parse(args); err != nil {
		return asUsage(err)
	}
	rest := c.flags.Args()
	if len(rest) == 0 {
		return usagef("which command?")
	}
	all := ctlCommands()
	i := slices.IndexFunc(all, func(row ctlCommand) bool { return row.name == rest[0] })
	if i < 0 {
		return usagef("there is no command %q", rest[0])
	}
	if err := c.configure(*envFile, environ); err != nil {
		return err
	}
	return all[i].run(c, rest[1:])
}

// configure finds the portal and the token.
func (c *ctl) configure(envFile string, environ []string) error {
	var args []string
	if envFile != "" {
		args = []string{"-env-file", envFile}
	}
	loaded, err := config.Load(args, environ)
	if err != nil {
		return usagef("the environment is not as Concert needs it: %w", err)
	}
	c.token = string(loaded.Config.AdminToken)
	if c.token == "" {
		return usagef("CONCERT_ADMIN_TOKEN is not set: it must be the token that the running Concert has")
	}
	if c.url == "" {
		c.url = portalURL(loaded.Config.PortalListen)
	}
	c.url = strings.TrimSuffix(c.url, "/")
	if !strings.HasPrefix(c.url, "http://") && !strings.HasPrefix(c.url, "https://") {
		c.url = "http://" + c.url
	}
	return nil
}

// portalURL is where a portal is reached that listens on an address.
func portalURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://127.0.0.1:8081" // the default
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// asUsage makes the flag package's error one of ours.
func asUsage(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errUsage{err}
}

// outOfPlace adds to the flag package's error where the common options go.
func (c *ctl) outOfPlace(err error) error {
	var place error
	c.flags.VisitAll(func(f *flag.Flag) {
		if strings.HasSuffix(err.Error(), ": -"+f.Name) {
			place = fmt.Errorf("-%s stands before the command: concert ctl -%s … COMMAND", f.Name, f.Name)
		}
	})
	return cmp.Or(place, err)
}

// parse reads the flags of a command, which may stand before and behind its
// arguments, and returns those.
func (c *ctl) parse(args []string, least, most int, define func(*flag.FlagSet)) ([]string, error) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.BoolVar(&c.rawJSON, "json", c.rawJSON, "")
	if define != nil {
		define(fs)
	}
	var words []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, asUsage(c.outOfPlace(err))
		}
		if fs.NArg() == 0 {
			break
		}
		words, args = append(words, fs.Arg(0)), fs.Args()[1:]
	}
	switch {
	case len(words) < least:
		return nil, usagef("something is missing")
	case most >= 0 && len(words) > most:
		return nil, usagef("%q is too much", words[most])
	}
	return words, nil
}

func writeCtlHelp(w io.Writer) {
	fmt.Fprint(w, ctlUsage)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range ctlCommands() {
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimSpace(row.name+" "+row.args), row.help)
	}
	t.Flush()
	fmt.Fprint(w, "\nWith -json the answer is printed as the portal's API gives it.\n"+
		"Exit status: 0 done, 1 refused, 2 wrong command line, 3 no portal answered.\n")
}
