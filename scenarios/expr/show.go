package expr

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Show is a value for people: no longer than a limit in bytes, and without what is of one run.
func Show(v ref.Val, limit int) string {
	if failure, is := v.(*types.Err); is {
		return ShowText(failure.Error(), limit)
	}
	return ShowText(JSON(v), limit)
}

// ShowText is what was observed, as show has it.
func ShowText(text string, limit int) string { return shorten(withoutRig(text), limit) }

// Addresses and ports that are another's on each run are not part of what was
// observed: the rig's own loopback block, and the client's side of a
// connection.
var (
	rigAddress = regexp.MustCompile(`\b127\.\d+\.(\d+\.\d+)\b`)
	clientPort = regexp.MustCompile(`:\d+->`)
)

func withoutRig(text string) string {
	text = rigAddress.ReplaceAllString(text, "127.x.$1")
	return clientPort.ReplaceAllString(text, ":x->")
}

func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
