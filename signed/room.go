package signed

// InRoom is a purpose, or the name of a cookie, for one inline room: base with
// the room's id behind a dot; base itself for the default room, whose id is "".
// What is signed for one room is made up in every other.
func InRoom(base, room string) string {
	if room == "" {
		return base
	}
	return base + "." + room
}
