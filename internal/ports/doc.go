// Package ports finds ports of the loopback for programs that cannot be handed
// a socket, or have to be told where they will listen before they do.
//
//	port, release, err := ports.Reserve()
//	defer release() // once nobody listens there any more
//
// Tests use parts.Address instead. A reserved port
//
//   - lies below the range that the system hands out by itself, so that no
//     client's connection and no server on port 0 of another process takes it
//     between the question and the answer;
//   - is free for TCP and for UDP on 127.0.0.1;
//   - is handed out to nobody else on this machine until it is released or the
//     process ends, however it ends: on Linux an abstract socket holds it.
//     Elsewhere only this process is kept from handing it out twice.
//
// A process is never given the same port twice: what lingers of a connection to
// the last program that listened there must not be taken for one to the next.
// Safe for concurrent use.
package ports
