package pipeline

// Family is the client's HTTP protocol family; browsers use a connection very
// differently on each.
type Family uint8

const (
	HTTP1 Family = iota // HTTP/1.0 and HTTP/1.1
	HTTP2               // HTTP/2 and HTTP/3
)
