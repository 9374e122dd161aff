package config

// Kind says how a value is written.
type Kind string

// The kinds.
const (
	KindBool     Kind = "bool"
	KindInt      Kind = "int"
	KindFloat    Kind = "float"
	KindDuration Kind = "duration"
	KindSeconds  Kind = "seconds" // a whole number of seconds
	KindText     Kind = "text"
	KindChoice   Kind = "choice"
	KindURL      Kind = "url"
	KindList     Kind = "list" // comma separated
	KindFile     Kind = "file"
	KindJSON     Kind = "json" // a text that is JSON
)

// Shape describes the values a setting accepts, for forms and documents.
type Shape struct {
	Kind     Kind
	Want     string   // in words, to follow "want"
	Min, Max string   // of numbers and durations; "" when there is none
	Choices  []string // of KindChoice
}

// codec is the text form of a type together with the values that are allowed.
// Its errors are misfits.
type codec[T any] struct {
	Shape
	parse  func(string) (T, error)
	format func(T) string
	check  func(T) error // judges a value however it was made
}

// binding ties a row to its field.
type binding interface {
	set(c *Config, text string) error // parse and check; c is unchanged on error
	text(c *Config) string            // what set would accept for the same value
	check(c *Config) error            // judge the field as it is
	field(c *Config) any              // pointer to the field
	shape() Shape
}

// bound is a codec with the field it fills.
type bound[T any] struct {
	at func(*Config) *T
	codec[T]
}

func (b bound[T]) set(c *Config, text string) error {
	v, err := b.parse(text)
	if err != nil {
		return err
	}
	if err := b.codec.check(v); err != nil {
		return err
	}
	*b.at(c) = v
	return nil
}

func (b bound[T]) text(c *Config) string { return b.format(*b.at(c)) }
func (b bound[T]) check(c *Config) error { return b.codec.check(*b.at(c)) }
func (b bound[T]) field(c *Config) any   { return b.at(c) }
func (b bound[T]) shape() Shape          { return b.Shape }
