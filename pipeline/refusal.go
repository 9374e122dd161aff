package pipeline

import (
	"fmt"
	"time"
)

// Reason says why a visit was refused. Each is one row of the reasons table.
type Reason uint8

// The reasons. The table below says what each means.
const (
	NotRefused Reason = iota
	BadRequest
	Forbidden
	MethodNotAllowed
	NotFound
	NoRoom
	WrongHost
	BodyTooLarge
	BodyStalled
	ClientGone
	Internal
	LineFull
	LineShut
	TooManyPlaces
	Busy
	FormNotSent
	AssetDenied
	AssetUserBusy
	AssetBusy
	StreamDenied
	StreamBusy
	OriginDown
	OriginTimeout
	OriginSwitched
	Unauthorized
	OperationsOff
	Banned
	Blocked
	Removed
	NumReasons
)

// Text is what a refusal says to people. Title and Body are for visitors;
// Error is the JSON form's "error". In Body, {wait} stands for the time of
// Retry-After in English words and {seconds} for its number.
type Text struct {
	Title string
	Body  string
	Error string
}

// row is one refusal: everything that is the same each time it is given.
type row struct {
	code   string // label in metrics, logs and docs
	status int
	retry  time.Duration // Retry-After when the refusal does not say; 0: none
	terse  bool          // no body: the client is not a person (an asset, a stream)
	again  bool          // the page asks again by itself after Retry-After
	fields string        // further JSON members, starting with a comma
	text   Text
}

// reasons is the table. A refusal is added here and nowhere else.
var reasons = [NumReasons]row{
	BadRequest: {code: "bad-request", status: 400, text: Text{
		"This request could not be understood", "The address or the request is malformed. Please check the link and try again.", "bad request"}},
	Forbidden: {code: "forbidden", status: 403, text: Text{
		"Another site may not do this for you", "The request came from a page of another site. If you want it done, please do it here.", "not allowed from another site"}},
	MethodNotAllowed: {code: "method-not-allowed", status: 405, text: Text{
		"This address does not take that kind of request", "Please go back and try again.", "method not allowed"}},
	NotFound: {code: "not-found", status: 404, text: Text{
		"There is nothing at this address", "Please check the link.", "not found"}},
	NoRoom: {code: "no-room", status: 404, text: Text{
		"There is no such waiting room", "Please check the link.", "there is no such room"}},
	WrongHost: {code: "wrong-host", status: 421, text: Text{
		"This site goes by another name", "The address in your browser leads here, but the site does not answer to it. Please check the link.", "host not served here"}},
	BodyTooLarge: {code: "body-too-large", status: 413, text: Text{
		"This upload is too large", "Nothing was sent to the site. Please choose a smaller file and try again.", "request body too large"}},
	BodyStalled: {code: "body-stalled", status: 408, text: Text{
		"Your upload came to a halt", "Too little of it arrived for too long. Please check your connection and try again.", "request body arrived too slowly"}},
	ClientGone: {code: "client-gone", status: 499},
	Internal: {code: "internal", status: 500, retry: 5 * time.Second, text: Text{
		"Something went wrong here", "This is not your fault. Please try again in a moment.", "internal error"}},
	LineFull: {code: "line-full", status: 503, retry: 5 * time.Second, again: true, fields: `,"queued":false`, text: Text{
		"The waiting room is full just now", "Very many people want to get in at the moment. This page tries again by itself; you need not do anything.", "waiting room is full"}},
	LineShut: {code: "line-shut", status: 503, retry: 60 * time.Second, again: true, fields: `,"queued":false`, text: Text{
		"The waiting room is closed", "Nobody is let in at the moment. This page tries again by itself about once a minute.", "waiting room is closed"}},
	TooManyPlaces: {code: "too-many-places", status: 429, retry: 10 * time.Second, again: true, fields: `,"queued":false`, text: Text{
		"Too many places from your network", "Your network already holds as many places in line as one may. This page tries again by itself.", "too many places in line for one address"}},
	Busy: {code: "busy", status: 503, retry: 5 * time.Second, again: true, fields: `,"queued":false`, text: Text{
		"The site is busy just now", "Please open the page itself to take a place in line.", "busy"}},
	FormNotSent: {code: "form-not-sent", status: 503, retry: 5 * time.Second, fields: `,"submitted":false`, text: Text{
		"Your form was not sent", "The site is busy, and nothing of what you entered has reached it. Go back in your browser, wait a moment and send the form again; what you typed is usually still there.", "busy"}},
	AssetDenied:    {code: "asset-denied", status: 403, terse: true},
	AssetUserBusy:  {code: "asset-user-busy", status: 429, retry: time.Second, terse: true},
	AssetBusy:      {code: "asset-busy", status: 503, retry: time.Second, terse: true},
	StreamDenied:   {code: "stream-denied", status: 403, terse: true},
	StreamBusy:     {code: "stream-busy", status: 503, retry: 5 * time.Second, terse: true},
	OriginDown:     {code: "origin-down", status: 502, retry: 5 * time.Second, text: Text{"The site is not answering", "Something between you and the site is broken. Please try again in a moment.", "upstream unavailable"}},
	OriginTimeout:  {code: "origin-timeout", status: 504, retry: 5 * time.Second, text: Text{"The site took too long to answer", "It is probably overloaded. Please try again in a moment.", "upstream timed out"}},
	OriginSwitched: {code: "origin-switched", status: 502, text: Text{"The site answered in a way that makes no sense", "Please try again in a moment.", "upstream switched protocols unasked"}},
	Unauthorized:   {code: "unauthorized", status: 401, terse: true},
	OperationsOff:  {code: "operations-off", status: 404, terse: true},
	Banned: {code: "banned", status: 429, retry: 5 * time.Minute, text: Text{
		"You are blocked for a while", "Requests from your network looked like an attack on this site. You can come back in {wait}.", "temporarily blocked"}},
	Blocked: {code: "blocked", status: 403, fields: `,"permanent":true`, text: Text{
		"You are blocked", "Your network may not visit this site. If you think that this is a mistake, please tell the people who run it.", "blocked"}},
	Removed: {code: "removed", status: 403, fields: `,"removed":true`, text: Text{
		"You were taken out of the line", "Somebody who runs this site has removed your place. If you think that this is a mistake, please tell them; open the page again to take a new place at the end.", "removed from the queue"}},
}

// Code returns the reason's label, as metrics and docs/refusals.md list it.
func (r Reason) Code() string { return reasons[r].code }

// Status returns the HTTP status the reason is answered with.
func (r Reason) Status() int { return reasons[r].status }

// DefaultText returns the built-in wording.
func (r Reason) DefaultText() Text { return reasons[r].text }

// Refusal is the error with which a stage turns a visit away. The usual ones
// are shared values, so that refusing a crowd allocates nothing.
type Refusal struct {
	Reason Reason
	// RetryAfter is what Retry-After says, rounded up to whole seconds; 0 is
	// the reason's own.
	RetryAfter time.Duration
	// Err is the cause. It is logged, never sent.
	Err error
}

// Error gives the reason's code and the cause, for logs.
func (r *Refusal) Error() string {
	if r.Err != nil {
		return fmt.Sprintf("%s: %v", r.Reason.Code(), r.Err)
	}
	return r.Reason.Code()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }
