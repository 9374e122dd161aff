// Package view is everything a person sees of the operator portal: the data of
// each page, the templates that render it, and the style sheet and scripts that
// bring it to life. It knows no HTTP and nothing of the running program: package
// portal fills the data in and sends what comes out.
//
//	err := view.RenderQueue(w, frame, view.QueuePage{Paging: paging, Rows: rows})
//	fragment, err := view.QueueFragment(frame, page)
//	body, contentType, ok := view.Asset("css/portal.css")
//
// # Pages and fragments
//
// Every tab is a page of its own under a plain link, complete as the server
// sends it: it can be read, filtered, sorted through and paged without scripts.
// The scripts then keep the visible tab up to date with fragments, which are the
// same rows rendered by the same templates, and carry out actions through the
// JSON API. Actions need scripts; looking does not.
//
// # What the scripts call
//
// The API below /api, which portal/openapi.json describes, with the session's token
// in X-CSRF-Token where something changes. What lies under frag/ answers with a
// [Fragment], series with a [Series], and a change of settings with an [Edited].
//
// Pausing, resuming and changing the cap are changes of the settings room and
// cap. Errors are {"error": text}, and the text is shown as it is.
//
// # Safety
//
// Paths, user agents, notes and names come from strangers. They pass through
// html/template on the server and textContent in the scripts; the only markup
// that scripts read is what those templates made. There is no inline script or style, so
// that the portal can forbid both.
//
// # Concurrency and limits
//
// Everything here is safe for concurrent use; templates are parsed once. A page
// renders what it is given: whoever fills it in bounds it.
package view
