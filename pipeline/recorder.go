package pipeline

import (
	"net/http"
	"time"
)

// recorder notes what was sent, and gives the client a limited time to take
// it. It lives inside the Visit.
type recorder struct {
	http.ResponseWriter
	status   int
	bytes    int64
	hijacked bool
	patience time.Duration // for each piece; 0: for ever, or somebody else sees to it
	find     func(*http.Request) Plain
	request  *http.Request // for find
	plain    Plain         // see connection
	sought   bool          // plain has been looked for
	head     *[]byte       // of plain, until the status is written; nil before its first use
}

// pieceBytes is how much a client has to take within its patience.
const pieceBytes = 32 << 10

// Bodies, or first pieces of one, of such a length leave in one piece with their
// header. A smaller one does so anyway, in net/http's buffer; of a larger one
// copying it costs as much as it saves.
const (
	leastGathered = 2 << 10
	mostGathered  = 16 << 10
)

// Unwrap lets http.NewResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// SetWriteDeadline is for http.NewResponseController: whoever sets deadlines
// does so from then on.
func (r *recorder) SetWriteDeadline(at time.Time) error {
	r.patience = 0
	return setWriteDeadline(r.ResponseWriter, at)
}

// setWriteDeadline spares net/http's own writers a walk.
func setWriteDeadline(w http.ResponseWriter, at time.Time) error {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(at)
	}
	return http.NewResponseController(w).SetWriteDeadline(at)
}

// WriteHeader notes the final status; informational ones pass through.
func (r *recorder) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		r.status, r.head = status, nil
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (n int, err error) {
	if r.status == 0 {
		r.status, r.head = http.StatusOK, nil
	}
	for r.patience > 0 && len(p) > pieceBytes {
		m, err := r.writePiece(p[:pieceBytes])
		if n += m; err != nil {
			return n, err
		}
		p = p[m:]
	}
	m, err := r.writePiece(p)
	return n + m, err
}

func (r *recorder) writePiece(p []byte) (int, error) {
	if r.patience > 0 {
		_ = setWriteDeadline(r.ResponseWriter, time.Now().Add(r.patience)) // a writer without deadlines is no connection
	}
	together := r.together(len(p))
	n, err := r.ResponseWriter.Write(p)
	if together != nil {
		if serr := together.Send(); err == nil {
			err = serr
		}
	}
	r.bytes += int64(n)
	return n, err
}

// together has the header wait for a first piece of n bytes. It returns nil
// where that is not worth it, or cannot be done.
func (r *recorder) together(n int) Plain {
	if r.bytes > 0 || n < leastGathered || n > mostGathered {
		return nil
	}
	if c := r.connection(); c != nil && c.Gather() {
		return c
	}
	return nil
}

// connection is the connection of the request, nil when it cannot help.
func (r *recorder) connection() Plain {
	if !r.sought && r.find != nil {
		r.plain = r.find(r.request)
	}
	r.sought = true
	return r.plain
}
