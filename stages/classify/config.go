package classify

import (
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/rooms"
)

// Config is what the stage is made of.
type Config struct {
	// Table gives the class of listed paths; nil lists nothing.
	Table *paths.Table[pipeline.Class]
	// ProtoHeader is the header, in canonical form, in which a trusted proxy
	// names the protocol its client speaks; empty if none does.
	ProtoHeader string
	// Hosts are the names that the site goes by; an empty set takes every name.
	Hosts *hosts.Set
	// Rooms are those beside the default one; nil: there are none.
	Rooms *rooms.Set
}

func (c Config) check() error {
	if canonical := http.CanonicalHeaderKey(c.ProtoHeader); canonical != c.ProtoHeader {
		return fmt.Errorf("classify: the protocol header is %q: want it written %q", c.ProtoHeader, canonical)
	}
	return nil
}
