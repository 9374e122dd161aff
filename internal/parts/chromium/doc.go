// Package chromium drives the real browser that tests look at pages with.
//
//	tab := chromium.Tab(t, chromium.Start(t))
//	err := chromedp.Do(tab, chromedp.Navigate(url))
//	chromium.Until(t, tab, `document.title === "It is your turn!"`)
//
// # Limits
//
// A tab lasts for three minutes. Under the race detector tests that want a browser
// are skipped.
package chromium
