package launch

import (
	"encoding/json"
	"strings"
	"syscall"
)

// stopSignal asks for a graceful end.
const stopSignal = syscall.SIGTERM

// listening finds the address in a log that holds a whole "listening" line, in
// either of Concert's log formats.
func listening(log string) (address string, ok bool) {
	for line := range strings.Lines(log) {
		if !strings.HasSuffix(line, "\n") {
			return "", false
		}
		if strings.HasPrefix(line, "{") {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				return entry.Address, true
			}
			continue
		}
		if _, rest, found := strings.Cut(line, "msg=listening address="); found {
			address, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return address, true
		}
	}
	return "", false
}
