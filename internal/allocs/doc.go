// Package allocs counts what a hot path allocates, for tests that say: nothing.
//
// Its one function stands for [testing.AllocsPerRun] in tests that run on a
// busy machine and under the race detector. Like that one it counts for the
// whole process, so tests that use it must not run in parallel.
package allocs
