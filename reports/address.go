package reports

import (
	"net/url"
	"regexp"
)

// host is a name or an address of a host, with a port or without. url.Parse lets more pass, which browsers refuse.
var host = regexp.MustCompile(`^(?:[\pL\pN_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?$`)

// WebAddress reads a text as the address of a web page, and reports whether it is one.
func WebAddress(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && host.MatchString(u.Host) && (u.Scheme == "https" || u.Scheme == "http")
}
