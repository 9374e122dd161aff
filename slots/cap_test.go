package slots

import (
	"testing"
	"testing/synctest"
)

func TestShrinkLetsNobodyInUntilHoldersFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(10)
		fill(t, g, 10)
		entered := arrive(t, g, 3)
		g.SetCap(2)
		wantState(t, g, 10, 2, 3)
		for held := 9; held >= 2; held-- {
			g.Release()
			wantEntered(t, entered)
			wantState(t, g, held, 2, 3)
		}
		g.Release()
		wantEntered(t, entered, 0)
		wantState(t, g, 2, 2, 2)
	})
}

func TestGrowLetsWaitersInAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1)
		fill(t, g, 1)
		entered := arrive(t, g, 4)
		g.SetCap(3)
		wantEntered(t, entered, 0, 1)
		wantState(t, g, 3, 3, 2)
	})
}

func TestGrowDuringShrink(t *testing.T) {
	g := New(8)
	fill(t, g, 8)
	g.SetCap(2)
	g.Release() // 7 held, one permit withheld
	g.SetCap(9)
	fill(t, g, 2)
	if g.TryAcquire() {
		t.Fatal("took a tenth slot of nine")
	}
	wantState(t, g, 9, 9, 0)
}

func TestCapZeroIsClosed(t *testing.T) {
	g := New(0)
	if g.TryAcquire() {
		t.Fatal("entered a gate of no slots")
	}
	wantState(t, g, 0, 0, 0)
	g.SetCap(1)
	fill(t, g, 1)
	g.SetCap(0)
	g.Release()
	if g.TryAcquire() {
		t.Fatal("entered a gate of no slots")
	}
}

func TestLargestCap(t *testing.T) {
	const most = 1<<31 - 1
	g := New(most)
	fill(t, g, 3)
	g.SetCap(2)
	g.SetCap(most)
	wantState(t, g, 3, most, 0)
}
