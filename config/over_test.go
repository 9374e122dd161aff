package config

import "testing"

func TestOverKeepsWhatTakesARestart(t *testing.T) {
	running := mustLoad(t, []string{"-listen=:1", "-cap=3", "-upstream=http://a"}, nil)
	next := mustLoad(t, []string{"-listen=:2", "-cap=4", "-idle-timeout=7s"}, []string{"CONCERT_ADMIN_TOKEN=0123456789abcdef", "CONCERT_ADMIT_SECRET=" + goodSecret})
	c := next.Over(running.Config)
	if c.Listen != ":1" || c.IdleTimeout != running.Config.IdleTimeout || c.AdminToken != "" || string(c.AdmitSecrets[0]) != string(running.Config.AdmitSecrets[0]) {
		t.Errorf("listen %q, idle timeout %v, or the secrets are not those in force", c.Listen, c.IdleTimeout)
	}
	if c.Cap != 4 || c.Upstream.Host != next.Config.Upstream.Host {
		t.Errorf("cap %d, upstream %v: want the new ones", c.Cap, c.Upstream)
	}
	if next.Config.Listen != ":2" {
		t.Error("Over changed what it was called on")
	}
}

func TestSucceedKeepsKeysThatNobodySet(t *testing.T) {
	old, next := mustLoad(t, nil, nil), mustLoad(t, nil, nil)
	got, err := next.Succeed(old.OwnKeys())
	if err != nil || string(got.Config.AdmitSecrets[0]) != string(old.Config.AdmitSecrets[0]) {
		t.Errorf("the keys are not the predecessor's (%v)", err)
	}
	if again, err := got.Reload(); err != nil || string(again.Config.AdmitSecrets[0]) != string(old.Config.AdmitSecrets[0]) {
		t.Errorf("they do not stay (%v)", err)
	}
	set := mustLoad(t, nil, []string{"CONCERT_ADMIT_SECRET=" + goodSecret})
	if got, err = set.Succeed(old.OwnKeys()); err != nil || string(got.Config.AdmitSecrets[0]) != goodSecret {
		t.Errorf("a secret that was set does not count (%v)", err)
	}
	if got, err = next.Succeed(nil); err != nil || string(got.Config.AdmitSecrets[0]) != string(next.Config.AdmitSecrets[0]) {
		t.Errorf("without keys, its own are lost (%v)", err)
	}
}
