package page

import "hash/crc32"

// checksum is what a text that never changes does to the check sum of gzip (RFC
// 1952, section 8) of whatever is before it, so that the text need not be read
// each time. The sum of the whole is that of the text alone, and that of what is
// before it moved on by the text's length. That is linear: it is enough to know
// where each four bits move to.
type checksum struct {
	alone uint32
	moved [8][16]uint32
}

func newChecksum(text []byte) checksum {
	c := checksum{alone: crc32.ChecksumIEEE(text)}
	zeros := make([]byte, len(text))
	for i := range c.moved {
		for bits := range c.moved[i] {
			c.moved[i][bits] = ^crc32.Update(^(uint32(bits) << (4 * i)), crc32.IEEETable, zeros)
		}
	}
	return c
}

// behind returns the sum of the text behind something of that sum.
func (c *checksum) behind(sum uint32) uint32 {
	out := c.alone
	for i := range c.moved {
		out ^= c.moved[i][sum>>(4*i)&15]
	}
	return out
}
