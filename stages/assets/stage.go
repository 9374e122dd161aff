package assets

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/slots"
)

// Stage holds the asset pools. Use [New].
type Stage struct {
	users  *slots.Pools[pipeline.Family] // by pass id
	global *slots.Gate
	leases sync.Pool // of *lease

	apply    sync.Mutex // serialises Apply; guards nothing visits read
	settings atomic.Pointer[Config]

	served, userThrottled, globalThrottled atomic.Uint64
}

var _ pipeline.Stage = (*Stage)(nil)

// Refusals are shared values: turning away a crowd allocates nothing.
var (
	userBusy   = &pipeline.Refusal{Reason: pipeline.AssetUserBusy}
	globalBusy = &pipeline.Refusal{Reason: pipeline.AssetBusy}
	clientGone = &pipeline.Refusal{Reason: pipeline.ClientGone}
)

// New builds the stage. The error names every value that is out of bounds.
func New(c Config) (*Stage, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Stage{users: slots.NewPools[pipeline.Family](), global: slots.New(0)}
	s.leases.New = func() any { return new(lease) }
	s.set(c)
	return s, nil
}

// Apply replaces all settings in place; when one is out of bounds it changes
// nothing and names it. Requests that wait already keep their old deadline.
func (s *Stage) Apply(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	s.apply.Lock()
	defer s.apply.Unlock()
	s.set(c)
	return nil
}

func (s *Stage) set(c Config) {
	s.settings.Store(&c)
	s.users.SetCap(pipeline.HTTP1, c.UserH1)
	s.users.SetCap(pipeline.HTTP2, c.UserH2)
	s.global.SetCap(c.Global)
}

// Sweep forgets the pools of passes that have been idle for IdleTTL and
// returns how many. Call it a few times per IdleTTL.
func (s *Stage) Sweep(now time.Time) int {
	return s.users.Sweep(now, s.settings.Load().IdleTTL)
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "assets" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes {
	return pipeline.ClassesOf(pipeline.Asset, pipeline.PublicAsset)
}

// Enter takes the visit's slots, waiting for them as long as configured.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	c := s.settings.Load()
	if v.Class == pipeline.Asset {
		if err := s.enterUser(v, c.UserWait); err != nil {
			return pipeline.Answered, err
		}
	}
	if err := s.enterGlobal(v, c.GlobalWait); err != nil {
		return pipeline.Answered, err
	}
	s.served.Add(1)
	return pipeline.Next, nil
}

func (s *Stage) enterUser(v *pipeline.Visit, wait time.Duration) error {
	got, outcome := s.users.Acquire(slots.Key(v.Pass.ID), v.Family, v.R.Context().Done(), wait)
	switch outcome {
	case slots.Acquired:
		l := s.leases.Get().(*lease)
		l.stage, l.slot = s, got
		v.Hold(l, 0)
		return nil
	case slots.Left:
		return clientGone
	}
	s.userThrottled.Add(1)
	v.Strike(pipeline.StrikeUserPool)
	return userBusy
}

func (s *Stage) enterGlobal(v *pipeline.Visit, wait time.Duration) error {
	switch s.global.Acquire(v.R.Context().Done(), wait) {
	case slots.Acquired:
		v.Hold((*globalSlot)(s), 0)
		return nil
	case slots.Left:
		return clientGone
	}
	s.globalThrottled.Add(1)
	return globalBusy
}

// lease is a slot of a pass's pool while a visit holds it. It is recycled,
// because a slots.Lease does not fit a token and boxing it would allocate.
type lease struct {
	stage *Stage
	slot  slots.Lease
}

// Release implements pipeline.Releaser.
func (l *lease) Release(*pipeline.Visit, uint64) {
	s, slot := l.stage, l.slot
	*l = lease{}
	slot.Release()
	s.leases.Put(l)
}

// globalSlot is the stage as the holder of one global slot.
type globalSlot Stage

// Release implements pipeline.Releaser.
func (s *globalSlot) Release(*pipeline.Visit, uint64) { s.global.Release() }
