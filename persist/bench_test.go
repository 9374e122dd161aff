package persist

import (
	"net/netip"
	"testing"
)

func BenchmarkLine(b *testing.B) {
	s := SavedLine{Snapshot: sampleLine(100_000)}
	path := b.TempDir()
	d := openDir(b, path)
	if err := d.SaveLine(s); err != nil {
		b.Fatal(err)
	}
	b.Run("save-100k", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := d.SaveLine(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load-100k", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s, err := d.LoadLine(); err != nil || len(s.Tickets) != 100_000 {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkBans(b *testing.B) {
	d := openDir(b, b.TempDir())
	r := newRegistry(b, d)
	for i := range 100_000 {
		r.ban(Ban{prefix("192.0.2.1/32"), epoch(), epoch(), 1, "forged-pass", "", ""})
		client := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		r.ban(Ban{client, epoch(), epoch(), 1, "forged-pass", "", ""})
	}
	if err := r.file.Sync(); err != nil {
		b.Fatal(err)
	}
	b.Run("write-all-100k", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.file.rewrite = true
			if err := r.file.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load-100k", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, saved, _, err := d.Bans(); err != nil || len(saved) != 100_001 {
				b.Fatal(len(saved), err)
			}
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		ban := Ban{prefix("192.0.2.1/32"), epoch(), epoch(), 1, "forged-pass", "", ""}
		for b.Loop() {
			r.file.Record(ban)
		}
	})
	b.Run("record-and-sync", func(b *testing.B) {
		ban := Ban{prefix("192.0.2.1/32"), epoch(), epoch(), 1, "forged-pass", "", ""}
		for b.Loop() {
			r.file.Record(ban)
			if err := r.file.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
