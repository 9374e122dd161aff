package config

import (
	"fmt"
	"slices"
)

// A rule concerns several settings at once. It is skipped while one of its
// keys is no good by itself.
type rule struct {
	keys  []string
	check func(c *Config, v *validator) []conflict
	// outside rules look at files that others change. They hold for sources
	// that are read, not for every later change: that of the cap must not fail
	// because a certificate is being replaced.
	outside bool
}

// A conflict blames one setting for what several do not agree on. An empty
// want stands for what the row says.
type conflict struct{ key, want, fix string }

func rules() []rule {
	return []rule{
		{[]string{"first_poll_grace", "retry_after"}, graceCoversRetry, false},
		{[]string{"abuse_cooldown", "abuse_max_cooldown"}, cooldownsAgree, false},
		{[]string{"abuse", "ban_paths"}, banPathsNeedAbuse, false},
		{[]string{"portal_listen", "portal_pass", "portal_allow"}, portalIsReachable, false},
		{[]string{"portal_pass", "portal_viewer_pass"}, portalPassesDiffer, false},
		{[]string{"gate_listen", "gate_admin_listen", "gate_keys", "admin_token", "redis_url"}, gateIsWhole, false},
		{[]string{"redis_url", "admit_secret"}, sharedLineNeedsSecret, false},
		{nil, pathsAgree, false},
		{[]string{"tls_cert", "tls_key"}, keysForCertificates, false},
		{[]string{"tls_staging", "tls_directory"}, oneDirectory, false},
		{[]string{"listen", "tls_http_listen"}, twoAddresses, false},
		{[]string{"tls_eab_id", "tls_eab_key"}, bindingIsWhole, false},
		{[]string{"http3", "tls_cert", "tls_domains"}, http3NeedsTLS, false},
		{[]string{"tls_cert", "tls_key"}, certificatesAreGood, true},
		{[]string{"tls_domains", "tls_cache"}, cacheIsGood, true},
	}
}

// graceCoversRetry: a client that does as Retry-After says must not find its
// place gone.
func graceCoversRetry(c *Config, v *validator) []conflict {
	least := 2 * c.RetryAfter
	if c.FirstPollGrace == 0 || c.FirstPollGrace >= least {
		return nil
	}
	return []conflict{{
		key:  "first_poll_grace",
		want: fmt.Sprintf("0 or at least twice %s, %s", v.name(row(Settings(), "retry_after")), FormatDuration(least)),
		fix:  "raise it, or lower the other",
	}}
}

// cooldownsAgree: the longest ban is no shorter than the first.
func cooldownsAgree(c *Config, v *validator) []conflict {
	if c.AbuseMaxCooldown >= c.AbuseCooldown {
		return nil
	}
	return []conflict{{
		key:  "abuse_max_cooldown",
		want: fmt.Sprintf("at least %s, %s", v.name(row(Settings(), "abuse_cooldown")), FormatDuration(c.AbuseCooldown)),
		fix:  "raise it, or lower the other",
	}}
}

// banPathsNeedAbuse: paths that would not be guarded are a false comfort.
func banPathsNeedAbuse(c *Config, v *validator) []conflict {
	if c.Abuse || len(c.BanPaths) == 0 {
		return nil
	}
	return []conflict{{
		key:  "ban_paths",
		want: "nothing while " + v.name(row(Settings(), "abuse")) + " is false",
		fix:  "turn the abuse registry on, or remove the paths",
	}}
}

// sharedLineNeedsSecret: a ticket must be good on every instance.
func sharedLineNeedsSecret(c *Config, v *validator) []conflict {
	if c.RedisURL == "" || !v.ownKeys {
		return nil
	}
	return []conflict{{
		key:  "redis_url",
		want: "nothing while " + v.name(row(Settings(), "admit_secret")) + " is unset",
		fix:  "give all instances the same secret; make one with: openssl rand -base64 48",
	}}
}

// crossCheck applies the rules, those about the outside only with outside.
func (v *validator) crossCheck(c *Config, outside bool) {
	rows := Settings()
	for _, r := range rules() {
		if r.outside && !outside || slices.ContainsFunc(r.keys, func(k string) bool { return v.bad[k] }) {
			continue
		}
		for _, x := range r.check(c, v) {
			s := row(rows, x.key)
			if x.want == "" {
				x.want = s.Want
			}
			v.problems = append(v.problems, &Problem{
				Key: s.Key, Name: v.name(s), Value: s.Text(c), Want: x.want, Fix: x.fix,
			})
		}
	}
}

// rejectKey notes that the value c has for the setting is no good.
func (v *validator) rejectKey(rows []Setting, key string, c *Config, err error) {
	s := row(rows, key)
	v.add(Problem{Key: key, Name: v.name(s), Value: s.Text(c), Want: s.Want}, err)
}

// row finds a row by its key.
func row(rows []Setting, key string) Setting {
	i := slices.IndexFunc(rows, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		panic("BUG: no setting " + key)
	}
	return rows[i]
}
