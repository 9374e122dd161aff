// Package page holds an example of an operator's own waiting page: waiting.html,
// to be shown with
//
//	concert -upstream http://127.0.0.1:3000 -html examples/page/waiting.html
//
// It does everything that Concert leaves to such a page, and nothing else:
//
//   - it shows {{.Position}}, the place in line, and uses {{.SkipURL}};
//   - before it asks for the first time, it looks for the cookie room_probe,
//     without which the browser keeps no cookies;
//   - it asks /queue/status after poll_after_ms, or 3 seconds where that is not
//     said, and comes back later after an answer that is none;
//   - it reloads once the answer says ready, and stops for good when it says
//     cookies_required;
//   - it shows the operator's message, and renews itself without JavaScript.
//
// Pictures and styles of such a page must be on paths that need no place in
// line: list them in -bypass or -asset-public. This page has none.
package page
