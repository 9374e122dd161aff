package pipeline

import "net/http"

// A Stage judges visits. It is built once, shared by all visits and safe for
// concurrent use. It says nothing about its neighbours.
type Stage interface {
	// Name is stable: stats, metrics and the debug header use it.
	Name() string
	// Classes are the classes the stage is for; others pass it by.
	Classes() Classes
	// Enter judges one visit. An error is a refusal: a *[Refusal] says which;
	// any other error is answered as an internal one and its text is logged,
	// never sent.
	Enter(v *Visit) (Verdict, error)
}

// Verdict says how a visit goes on.
type Verdict uint8

const (
	// Next goes on to the next stage, and from the last one to the origin.
	Next Verdict = iota
	// Forward skips the remaining stages and goes to the origin.
	Forward
	// Answered ends the visit: the stage has written the response.
	Answered
)

// Releaser takes back what a visit held. It is usually the pool or line the
// thing came from. Release must neither block nor write to the client.
type Releaser interface {
	Release(v *Visit, token uint64)
}

// ResponseEditor may change the header of a response that came from the origin
// just before it is sent to the client.
type ResponseEditor interface {
	EditResponse(v *Visit, status int, header http.Header)
}

// Observer is told of every finished visit, after everything held was
// released. It must not keep the visit.
type Observer interface {
	Observe(v *Visit)
}
