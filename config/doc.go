// Package config holds Concert's settings: one table, one struct, one check.
//
// Everything that concerns a setting comes from its row in the table: the
// flag, the environment variable, the default, the bounds, the help text, the
// lines of "concert check" and docs/configuration.md. A new setting is a new
// row in [Settings] and a new field in [Config].
//
// # Usage
//
//	loaded, err := config.Load(os.Args[1:], os.Environ())
//	switch {
//	case errors.Is(err, config.ErrHelp):
//		config.WriteHelp(os.Stdout)
//	case err != nil:
//		fmt.Fprintln(os.Stderr, err) // one line per problem, all of them
//		os.Exit(2)
//	}
//
// A program that embeds Concert starts from [Default], changes fields and
// calls [Config.Validate], which applies the very same checks.
//
// # Sources
//
// A stored setting beats a flag, which beats an environment variable, which
// beats the default. A flag that is set to nothing (-bypass "") counts as set;
// a blank environment variable counts as unset. The variables of -env-file
// replace those of the environment. A value that is malformed is a problem
// even where another source overrides it.
//
// What is stored is JSON by key: numbers, strings, booleans and, for lists,
// arrays of strings. Whole numbers may be quoted; null is empty or false.
// [Sources.ReadStored] supplies it.
//
// # Changes
//
// [Loaded.With] makes a complete new configuration, checked like the first,
// and [Loaded.Diff] says what is different in it. [Loaded.Reload] reads the
// sources again. Nothing else reads flags or the environment after Load.
//
// # Concurrency
//
// The functions share no state. A loaded Config is not changed by anybody and
// may be read by all.
package config
