package action

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Client is a client of a release: it reads an object into the types of that release, changes
// it, and writes all of it back, as controllers do. Fields that its types don't have get lost.
// After a conflict it reads and writes again, up to five times.
type Client struct {
	// Version is a release, "newest", "previous" or a minor version ("v1.36").
	Version release.Version `json:"version"`
	// Update is the object: resource/name or resource/namespace/name.
	Update spec.ObjectRef `json:"update"`
	// Merge is a JSON merge patch (RFC 7386) of what was read, of fields that the release has.
	// If unset, that is written as it is.
	Merge map[string]any `json:"merge,omitempty"`
	// Subresource is the part of the object that is read and written, such as status. If unset,
	// the object itself is.
	Subresource string `json:"subresource,omitempty"`
	// Encoding is how objects are sent, both ways. If unset, JSON.
	Encoding Encoding `json:"encoding,omitempty"`
	// Times is how often it reads and writes. If unset, once.
	Times    int `json:"times,omitempty"`
	Expected `json:"-"`
}

// Encoding is how an object is written.
type Encoding string

// The encodings: those that built-in kinds have.
const (
	JSON     Encoding = "json"
	Protobuf Encoding = "protobuf"
)

// check reports what is no encoding.
func (e Encoding) check(f spec.Field) {
	f.Refuse(".encoding", e != JSON && e != Protobuf, "%s is no encoding of objects: json or protobuf", strict.Quote(string(e)))
}

// maxTimes bounds how often a client writes.
const maxTimes = 10_000

func (c Client) Check(f spec.Field) {
	f.Refuse(".times", f.Has(".times") && (c.Times < 1 || c.Times > maxTimes), "times is 1 to %d", maxTimes)
	if f.Has(".subresource") && f.Clean(".update") {
		checkSubresource(f, c.Update.Resource, c.Subresource)
	}
	c.Encoding.check(f)
}

func (c Client) Asks() map[string]release.Version {
	return map[string]release.Version{".version": c.Version}
}

func (c Client) Change(r *spec.Rig) { r.Resolve(".version", c.Version) }

func (c Client) Elsewhere() bool { return c.Update.Cluster != "" }

func (c Client) Plan(s Scene) (Action, error) {
	v, err := s.Rig.Meant(c.Version)
	c.Version, c.Times, c.Expected = s.Rig.On(spec.TypedClient, v), max(c.Times, 1), expected(s)
	if c.Encoding == "" {
		c.Encoding = JSON
	}
	return c, err
}

func (c Client) Describe() string {
	text := fmt.Sprintf("update %s by a client of %s, in %s", c.Update, c.Version, c.Encoding)
	if len(c.Merge) > 0 {
		text += ", with " + shorten(Encode(c.Merge))
	}
	if c.Subresource != "" {
		text += ", as its " + c.Subresource
	}
	if c.Times > 1 {
		text += fmt.Sprintf(", %d times", c.Times)
	}
	return OneLine(text + c.describe())
}

func (c Client) Run(ctx context.Context, rig Rig) error {
	if err := rig.Update(ctx, c, c.judged()); err != nil {
		return err
	}
	return c.judge(ctx, rig)
}

// Facts are those of a client that puts objects.
func (c Client) Facts() Facts {
	f := Facts{
		Needs: NeedsClients, Reach: ofRef(c.Update), Types: c.Version, Times: c.Times, Unanswered: c.Times,
		Writes: &Write{Verb: Puts, Ref: c.Update, Body: c.Merge, Subresource: c.Subresource},
		Starts: programs(spec.TypedClient, c.Version), Gives: gives("requests"), Checks: c.Checked(),
	}
	if LooksAround(c.Merge) {
		f.Reach = ReachAll
	}
	return f
}
