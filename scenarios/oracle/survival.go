package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/scenarios/model"
)

// fieldSurvival follows what is stored of the fields in each object, from the
// request that created it through every write and every API server.
func fieldSurvival(r *run) finding {
	var f finding
	for _, feature := range model.Features() {
		r.answersFollow(feature, &f)
		for _, versions := range r.byUID {
			r.followStored(feature, versions, &f)
		}
	}
	return f
}

// answersFollow holds what the API server answered to the scenario's own
// creations against what was asked for.
func (r *run) answersFollow(feature model.Feature, f *finding) {
	for _, a := range r.asked {
		wanted, known := r.manifest(a)
		server, runs := r.serverAt(a.at)
		if !a.created || !known || !runs {
			continue
		}
		want := model.Shown(feature, server.Component, model.Created(feature, server.Component, wanted.fields(feature)))
		got := a.fields(feature)
		f.lookedAt(len(got) > 0 || len(wanted.fields(feature)) > 0)
		if !got.Same(want) {
			f.fault("%s was created with %s %s by %s, instead of %s", a.name, feature.Name, text(got), server.Version, text(want))
		}
	}
}

// stored is what may be stored in an object, for all that the record says.
type stored struct {
	possible []model.Fields
	resource string // the version that they are of
	server   int    // the API server under which it was seen: its place in the record
}

// followStored follows one object through its versions.
func (r *run) followStored(feature model.Feature, versions []version, f *finding) {
	var now *stored
	for _, v := range versions {
		server, runs := r.serverAt(v.at)
		if !runs {
			continue // it may be either one's
		}
		shown := v.fields(feature)
		if now == nil {
			now = r.firstSeen(feature, v, server, f)
			continue
		}
		used := now.uses()
		now.possible = r.rewrittenAs(feature, *now, v, server)
		f.lookedAt(len(shown) > 0 || used || now.uses())
		now.resource, now.server = v.Metadata.ResourceVersion, server.from
		if !now.allows(feature, server.Component, shown) {
			f.fault("%s shows %s %s by %s, where %s may be stored", v.name, feature.Name, text(shown), server.Version, now)
		}
		if server.Knows(feature) {
			now.possible = []model.Fields{shown} // whatever it should have been
		}
	}
}

// uses reports whether the field may be stored.
func (s *stored) uses() bool {
	return slices.ContainsFunc(s.possible, func(fields model.Fields) bool { return len(fields) > 0 })
}

// firstSeen is what is stored in an object that was not seen before. Only of
// one that was created under this API server is anything known.
func (r *run) firstSeen(feature model.Feature, v version, server life, f *finding) *stored {
	shown := v.fields(feature)
	s := &stored{resource: v.Metadata.ResourceVersion, server: server.from, possible: []model.Fields{shown}}
	createdHere := createdUnder(v, server)
	switch {
	case server.Enabled(feature):
	case createdHere && !shown.Same(nil):
		f.fault("%s was created with %s %s by %s, whose gate is off", v.name, feature.Name, text(shown), server.Version)
	case !createdHere && !server.Knows(feature):
		return nil // what is stored is not shown
	}
	f.lookedAt(createdHere && len(shown) > 0)
	return s
}

// createdUnder reports whether an object is certain to have been created under
// an API server. Its creation is known to the second.
func createdUnder(v version, server life) bool {
	created, err := time.Parse(time.RFC3339, v.Metadata.CreationTimestamp)
	return err == nil && !created.Before(server.fromTime)
}

// rewrittenAs returns what may be stored at a version, by what may have been stored
// before it. Who wrote it is known of the scenario's own requests; any of the
// API servers that ran in the meantime may have written for somebody else.
func (r *run) rewrittenAs(feature model.Feature, before stored, v version, server life) []model.Fields {
	if v.Metadata.ResourceVersion == before.resource {
		return before.possible
	}
	possible := before.possible
	for _, l := range r.lives[apiserver] {
		if l.from < before.server || l.from > server.from {
			continue
		}
		after := updated(feature, l.Component, possible, unchanged)
		if before.server == server.from {
			possible = after // nobody else can have
		} else {
			possible = append(slices.Clip(possible), after...)
		}
	}
	if ours, is := r.answered(v); is {
		writer, _ := r.serverAt(ours.at)
		possible = updated(feature, writer.Component, possible, r.patches[ours.step].merged(feature))
	}
	return possible
}

// updated is what may be stored after a write that asks for something else than
// there was.
func updated(feature model.Feature, writer model.Component, before []model.Fields, asked func(was model.Fields) model.Fields) (after []model.Fields) {
	for _, was := range before {
		after = append(after, model.Updated(feature, writer, was, asked(was)))
	}
	return after
}

// unchanged is what a write asks for that is about something else.
func unchanged(was model.Fields) model.Fields { return was }

// merged returns what a JSON merge patch makes of the fields of an object: a list
// of containers is replaced as a whole, or stays as it was (RFC 7386).
func (patch *object) merged(feature model.Feature) func(was model.Fields) model.Fields {
	return func(was model.Fields) model.Fields {
		asked := patch.fields(feature)
		for path, value := range was {
			replaced := slices.ContainsFunc(patch.pod.lists(), func(l containerList) bool {
				return l.containers != nil && strings.HasPrefix(path, l.name+"/")
			})
			if !replaced {
				asked[path] = value
			}
		}
		return asked
	}
}

// answered returns the answer to the scenario's own request that wrote this
// version of an object.
func (r *run) answered(v version) (asked, bool) {
	i := slices.IndexFunc(r.asked, func(a asked) bool {
		return a.name == v.name && a.Metadata.ResourceVersion == v.Metadata.ResourceVersion
	})
	if i < 0 {
		return asked{}, false
	}
	return r.asked[i], true
}

// allows reports whether an API server may show the fields.
func (s *stored) allows(feature model.Feature, server model.Component, shown model.Fields) bool {
	return slices.ContainsFunc(s.possible, func(fields model.Fields) bool {
		return model.Shown(feature, server, fields).Same(shown)
	})
}

func (s *stored) String() string {
	var all []string
	for _, fields := range s.possible {
		all = append(all, text(fields))
	}
	slices.Sort(all)
	return fmt.Sprint(slices.Compact(all))
}

func text(fields model.Fields) string {
	if fields.Same(nil) {
		return "unset"
	}
	return fmt.Sprint(map[string]string(fields))
}
