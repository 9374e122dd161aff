package pipeline

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// MaxHeldBody is the most bytes of a request body that are kept in memory
// while the request waits.
const MaxHeldBody = 64 << 10

// heldBodyTime is how long a client may take to send that much.
const heldBodyTime = 10 * time.Second

// HidesLeaving reports whether net/http would not notice that the client hung
// up: over HTTP/1 it watches the connection only once the body has been read.
// A body that waits for 100 Continue is not there to be read, and one longer
// than [MaxHeldBody] is not worth beginning with.
func (v *Visit) HidesLeaving() bool {
	r := v.R
	if _, held := r.Body.(heldBody); held {
		return false
	}
	return r.ProtoMajor == 1 && r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 &&
		r.ContentLength <= MaxHeldBody && r.Header["Expect"] == nil
}

// BodyInMemory reports whether nothing of the request has still to come.
func (v *Visit) BodyInMemory() bool {
	held, ok := v.R.Body.(heldBody)
	return ok && held.whole || v.R.Body == nil || v.R.Body == http.NoBody || v.R.ContentLength == 0
}

// HoldBody reads up to [MaxHeldBody] bytes of the body into memory, so that
// the client's leaving shows and a slow sender spends its own time instead of
// a slot's. A longer body is continued from the connection. The error is
// os.ErrDeadlineExceeded when the body takes longer than ten seconds; any other
// means that it will not come.
func (v *Visit) HoldBody() error {
	control := http.NewResponseController(v.W)
	_ = control.SetReadDeadline(time.Now().Add(heldBodyTime)) // not every writer can; then the server's own limits stand
	body := v.R.Body
	read, err := io.ReadAll(io.LimitReader(body, MaxHeldBody))
	// A deadline that passes later would look like a client that left.
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		return fmt.Errorf("hold the request body: %w", err)
	}
	whole := len(read) < MaxHeldBody || v.R.ContentLength == MaxHeldBody
	v.R.Body = heldBody{io.MultiReader(bytes.NewReader(read), body), body, whole}
	return nil
}

// heldBody reads what is in memory, then the rest.
type heldBody struct {
	io.Reader
	io.Closer
	whole bool
}
