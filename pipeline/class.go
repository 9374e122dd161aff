package pipeline

// Class says which tier a request belongs to. The classify stage sets it; a
// stage of one's own may change it for the stages behind.
type Class uint8

const (
	Unclassified Class = iota // before the classify stage has run
	Page                      // waits in line, holds a page slot
	Asset                     // needs an admission pass, uses the asset pools
	PublicAsset               // no pass, uses the global asset pool
	Stream                    // WebSocket and SSE: needs a pass, holds a stream slot
	Bypass                    // straight to the origin
	Operations                // answered by Concert itself
	numClasses
)

var classNames = [numClasses]string{"unclassified", "page", "asset", "public-asset", "stream", "bypass", "operations"}

// String returns the class's name as logs, metrics and stats print it.
func (c Class) String() string { return classNames[c] }

// Classes is a set of classes.
type Classes uint16

// ClassesOf returns the set of the given classes.
func ClassesOf(cs ...Class) Classes {
	var set Classes
	for _, c := range cs {
		set |= 1 << c
	}
	return set
}

// AllClasses is every class there is.
const AllClasses Classes = 1<<numClasses - 1

// Has reports whether c is in the set.
func (s Classes) Has(c Class) bool { return s&(1<<c) != 0 }
