// Package app puts Concert together: configuration, stores, stages, servers.
//
// # Usage
//
//	loaded, err := config.Load(os.Args[1:], os.Environ())
//	a, err := app.New(loaded.Config, app.Options{Log: logger})
//	err = a.Serve(ctx, listener)
//
// A program that embeds Concert takes [App.Handler] for its own server,
// [App.PortalHandler] for one that only operators reach, and keeps [App.Run]
// going beside them. [Options] lets it put stages of its own
// before or after any built-in one, and reword the refusals.
//
// What outlives the process is in memory alone unless [Options] has a
// directory for it; with Options.Loaded operators can change settings, which
// goes the one way of [App.Change]: a complete new configuration is checked,
// built, saved, and then put in force. [App.Upgrade] has another process go on
// where this one stands; cmd/concert shows the order in which all that is
// opened.
//
// stages.go is where the order of the stages is decided; reading it tells the
// whole way of a request.
//
// # Concurrency
//
// An App is safe for concurrent use.
package app
