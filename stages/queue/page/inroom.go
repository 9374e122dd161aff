package page

// InRoom is the address of one of Concert's own paths for an inline room; the
// path itself for the default room, whose id is "".
func InRoom(path, room string) string {
	if room == "" {
		return path
	}
	return path + "?room=" + room
}
