package pipeline

import "fmt"

// Order is a list of stages that can still be changed; an embedding program
// gets Concert's own and puts its stages where they belong.
type Order []Stage

// Before inserts s before the stage called name.
func (o *Order) Before(name string, s Stage) error { return o.insert(name, 0, s) }

// After inserts s after the stage called name.
func (o *Order) After(name string, s Stage) error { return o.insert(name, 1, s) }

func (o *Order) insert(name string, offset int, s Stage) error {
	for i, have := range *o {
		if have.Name() == name {
			at := i + offset
			*o = append((*o)[:at:at], append([]Stage{s}, (*o)[at:]...)...)
			return nil
		}
	}
	return fmt.Errorf("pipeline: insert %q: no stage is called %q", s.Name(), name)
}
