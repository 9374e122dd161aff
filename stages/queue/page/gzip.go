package page

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// gzipHeader is the fixed header: deflate, no name, no time, any system (RFC
// 1952, section 2.3).
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// storedHeader is the size of a stored block's header, from a byte boundary on.
const storedHeader = 5

// deflated is a fixed piece, compressed.
type deflated struct {
	bytes []byte
	sum   checksum
}

// deflate compresses the fixed pieces, each by itself and up to a byte boundary,
// so that figures of any length fit between them.
func (p *Page) deflate() []deflated {
	pieces := make([]deflated, len(p.pieces))
	for i := range p.pieces {
		pieces[i].sum = newChecksum(p.pieces[i].text)
		if len(p.pieces[i].text) == 0 {
			continue
		}
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err == nil {
			_, err = w.Write(p.pieces[i].text)
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			panic("BUG: compress into memory: " + err.Error()) // the level is right, and memory takes everything
		}
		pieces[i].bytes = b.Bytes()
	}
	return pieces
}

// AppendGzip renders the page for one visitor, compressed with gzip (RFC 1952).
// The fixed pieces were compressed once; the visitor's figures go between them
// as they are, in stored blocks of deflate (RFC 1951, section 3.2.4).
func (p *Page) AppendGzip(dst []byte, v Values) []byte {
	dst = append(dst, gzipHeader...)
	var sum, size uint32
	fixed := p.deflated()
	for i := range fixed {
		sum = fixed[i].sum.behind(sum)
		size += uint32(len(p.pieces[i].text))
		dst = append(dst, fixed[i].bytes...)
		if p.pieces[i].figure == none {
			continue
		}
		begin := len(dst)
		dst = append(dst, 0, 0, 0, 0, 0)
		dst = p.appendFigure(dst, p.pieces[i].figure, v)
		figure := dst[begin+storedHeader:]
		binary.LittleEndian.PutUint16(dst[begin+1:], uint16(len(figure)))
		binary.LittleEndian.PutUint16(dst[begin+3:], ^uint16(len(figure)))
		sum = crc32.Update(sum, crc32.IEEETable, figure)
		size += uint32(len(figure))
	}
	dst = append(dst, 1, 0, 0, 0xff, 0xff) // a last block, of nothing
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, size)
}
