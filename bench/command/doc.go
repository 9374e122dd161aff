// Package command is what the programs in bench/cmd have in common.
//
//	func main() { command.Main("soak", run) }
//
//	if err := command.Parse(flags, args); err != nil { … }
//	_, err := command.Report(ctx, &s.Binary, func() (*soak.Report, error) { return soak.Run(ctx, s) })
//
// Nothing here is for use from several goroutines.
package command
