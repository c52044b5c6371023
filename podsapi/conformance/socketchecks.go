package conformance

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/reports"
)

// place is the end of the path that KEP-4188 names; what comes before is the
// directory of the kubelet, which may be anywhere.
const place = "/" + client.ProposedPlace

// Who may not write to a socket can't connect to it, nor who may not enter its
// directory. A group may do neither: whether it is one of administrators, which the
// text allows, is in no mode.
var (
	ownSocket = regexp.MustCompile(`^s.{4}-.{2}-.$`)
	ownDir    = regexp.MustCompile(`^d.{5}-.{2}-$`)
)

var socketChecks = []check{
	{
		"socket-path", "socket/path", client.ProposedPlace + " in the directory of the kubelet", []need{socket},
		func(r Record) (reports.Outcome, string) { return held(strings.HasSuffix(r.Path, place)), r.Path },
	},
	{
		"socket-is-the-owners", "socket/permissions", "only the owner can connect", []need{socket},
		func(r Record) (reports.Outcome, string) {
			own := ownSocket.MatchString(r.Socket.Mode) || ownDir.MatchString(r.Socket.DirMode)
			return held(own), fmt.Sprintf("%s in %s", r.Socket.Mode, r.Socket.DirMode)
		},
	},
}
