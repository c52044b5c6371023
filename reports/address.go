package reports

import "net/url"

// WebAddress reads a text as the address of a web page, and reports whether it is one.
func WebAddress(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
