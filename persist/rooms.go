package persist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	roomsVersion = 1
	maxRooms     = 256 << 20 // bytes
	maxRoomState = 4 << 30   // bytes
)

// versioned is the beginning of a file that begins with its version.
type versioned struct {
	Version int `json:"version"`
	Content any `json:"content"`
}

// SaveRooms writes rooms.json, what operators decided about off-site rooms.
func (d *Dir) SaveRooms(content any) error { return d.saveVersioned(RoomsName, content, "  ") }

// LoadRooms reads rooms.json into content. ok is false when there is none. An
// error should stop the start.
func (d *Dir) LoadRooms(content any) (ok bool, err error) {
	if ok, err = d.loadVersioned(RoomsName, maxRooms, content); err != nil {
		err = d.BadRooms(err)
	}
	return ok, err
}

// BadRooms is the error of a rooms.json in which something is wrong.
func (d *Dir) BadRooms(err error) error {
	return fmt.Errorf("%s: %w: correct the file, or move it away to begin without rooms", d.file(RoomsName), err)
}

// SaveRoomState writes rooms.state, the lines of off-site rooms.
func (d *Dir) SaveRoomState(content any) error { return d.saveVersioned(RoomStateName, content, "") }

// LoadRoomState reads rooms.state into content. ok is false when there is none
// and on an error; the file was set aside as rooms.state.bad then, and the
// lines begin anew.
func (d *Dir) LoadRoomState(content any) (ok bool, err error) {
	ok, err = d.loadVersioned(RoomStateName, maxRoomState, content)
	if err == nil {
		return ok, nil
	}
	path := d.file(RoomStateName)
	err = fmt.Errorf("%s: %w: kept as %s", path, err, badName(RoomStateName))
	if ready := d.ready(); ready != nil {
		return false, errors.Join(err, ready)
	}
	return false, errors.Join(err, os.Rename(path, badName(path)))
}

func (d *Dir) saveVersioned(name string, content any, indent string) error {
	if d.path == "" {
		return nil
	}
	return d.replace(name, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", indent)
		return enc.Encode(versioned{roomsVersion, content})
	})
}

func (d *Dir) loadVersioned(name string, limit int64, content any) (ok bool, err error) {
	text, ok, err := d.readFile(name, limit)
	if err != nil || !ok {
		return false, err
	}
	file := versioned{Content: content}
	if err := strictJSON(text, &file); err != nil {
		return false, err
	}
	return true, checkVersion(file.Version, roomsVersion)
}
