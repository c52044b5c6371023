package gotool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ErrUnreachable is the error for modules that can't be downloaded since no connection to a
// module proxy comes about, whichever they are.
var ErrUnreachable error = &Unreachable{}

// Unreachable is the error for some such modules.
type Unreachable struct {
	// Modules are those that are missing, such as "k8s.io/api@v0.37.1".
	Modules []string
	// Why is what happened to one of the requests, such as that a name can't be resolved.
	Why string
	// Said is all that the Go command printed.
	Said string
}

// maxMissing is how many missing modules an error names.
const maxMissing = 3

// Error implements error.
func (e *Unreachable) Error() string {
	named := strings.Join(e.Modules[:min(len(e.Modules), maxMissing)], ", ")
	if more := len(e.Modules) - maxMissing; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("the module proxy can't be reached for %s: %s (set another with go env -w GOPROXY=URL, or take what another machine built: skewrig build save there, load here)", named, e.Why)
}

// Is reports whether another error is ErrUnreachable.
func (e *Unreachable) Is(other error) bool { return other == ErrUnreachable }

// unanswered finds in a line of the Go command what kept it from asking a proxy or, with
// GOPROXY=direct, a repository; requested finds the module that it wanted.
var (
	unanswered = regexp.MustCompile(`(?:dial (?:tcp|udp)|net/http: TLS handshake timeout|[Cc]ould not resolve host|module lookup disabled).*`)
	requested  = regexp.MustCompile(`(\S+@v[^\s:/]+): `)
)

// unreachable is the error for what the Go command printed if no connection to a module
// proxy came about, or nil.
func unreachable(text string) error {
	e := &Unreachable{Said: text}
	for line := range strings.Lines(text) {
		why := strings.TrimSpace(unanswered.FindString(line))
		if why == "" {
			continue
		}
		if e.Why == "" {
			e.Why = why
		}
		if m := requested.FindStringSubmatch(line); m != nil && !slices.Contains(e.Modules, m[1]) {
			e.Modules = append(e.Modules, m[1])
		}
	}
	if len(e.Modules) == 0 {
		return nil
	}
	return e
}
