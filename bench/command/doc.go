// Package command is what the programs in bench/cmd have in common.
//
//	func main() { command.Main("soak", run) }
//
//	binary, remove, err := command.Concert(ctx, *given)
//	if err != nil { … }
//	defer remove()
//
// Nothing here is for use from several goroutines.
package command
