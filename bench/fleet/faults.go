package fleet

import "time"

// Fault is something that goes wrong while a crowd waits.
type Fault struct {
	Name string
	At   time.Duration // after the first arrival
	// Begin has it go wrong and End puts it right after a time For; a nil End
	// is a fault that rights itself.
	Begin func(*Fleet)
	For   time.Duration
	End   func(*Fleet)
}

// KillInstance kills an instance, which is started again after a time.
func KillInstance(at time.Duration, k int, off time.Duration) Fault {
	return Fault{"kill -9 of an instance", at, func(f *Fleet) { f.Kill(k) }, off, func(f *Fleet) { f.Start(k) }}
}

// CutInstance cuts an instance off from Redis for a time, as a network does.
func CutInstance(at time.Duration, k int, off time.Duration) Fault {
	return Fault{"an instance is cut off", at, func(f *Fleet) { f.do(f.net.cut(k)) }, off, func(f *Fleet) { f.do(f.net.mend(k)) }}
}

// RestartRedis kills Redis, which comes back empty after a time.
func RestartRedis(at, off time.Duration) Fault {
	return Fault{"redis comes back empty", at, func(f *Fleet) { f.Redis.Kill() }, off, func(f *Fleet) { f.Redis.Restart() }}
}

// PauseRedis stops Redis with SIGSTOP for a time.
func PauseRedis(at, off time.Duration) Fault {
	return Fault{"redis is stopped", at, func(f *Fleet) { f.Redis.Pause() }, off, func(f *Fleet) { f.Redis.Resume() }}
}

// do notes that a fault could not be made.
func (f *Fleet) do(err error) {
	if err != nil {
		f.tb.Error(err)
	}
}
