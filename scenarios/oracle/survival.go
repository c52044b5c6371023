package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/model"
)

// fieldSurvival follows what is stored of the fields in each object, from the
// request that created it through every write and every API server.
func fieldSurvival(r *run) finding {
	var f finding
	for _, field := range r.Fields {
		s := survival{run: r, Field: field, finding: &f}
		s.answersFollow()
		for _, versions := range r.byUID {
			s.followStored(versions)
		}
	}
	return f
}

// survival follows one field.
type survival struct {
	*run
	model.Field
	*finding
}

// answersFollow holds what the API server answered to the scenario's own
// creations against what was asked for.
func (s survival) answersFollow() {
	for _, a := range s.asked {
		wanted, known := s.manifest(a)
		server, runs := s.answeredBy(a)
		if !a.Created() || !known || !runs {
			continue
		}
		by, known := s.through(server, a.Response)
		if !known {
			continue
		}
		asked, got, fills := values(s.Field, wanted), values(s.Field, a.Response), s.fills(a.Response)
		s.lookedAt(len(got) > 0 || len(asked) > 0)
		want := &stored{}
		for _, admitted := range s.admitted(a.Place, "CREATE", a.Response.Resource, asked) {
			want.possible = append(want.possible, s.Shown(s.Field, by, s.Created(s.Field, by, admitted, fills), fills))
		}
		isWanted := func(v model.Values) bool { return maps.Equal(got, v) }
		if !slices.ContainsFunc(want.possible, isWanted) && !s.patches(a.Place, "CREATE", a.Response.Resource) {
			s.fault("%s was created with %s %s by %s, instead of %s", a.Object, s.Name(), s.text(got), server.Version, strings.Join(s.each(want), " or "))
		}
	}
}

// stored is what may be stored in an object, for all that the record says.
type stored struct {
	possible []model.Values
	resource string // the version that they are of
	place    int    // where in the record it was seen
}

// followStored follows one object through its versions.
func (s survival) followStored(versions []*timeline.Version) {
	var now *stored
	for _, v := range versions {
		server, runs := s.shownBy(v)
		if !runs {
			continue // it may be either one's
		}
		by, known := s.through(server, v)
		if !known {
			return
		}
		shown := values(s.Field, v)
		if now == nil {
			now = s.firstSeen(v, server, by)
			continue
		}
		used := now.uses()
		now.possible = s.rewrittenAs(*now, v)
		s.lookedAt(len(shown) > 0 || used || now.uses())
		now.resource, now.place = v.Meta().ResourceVersion, v.Place
		agree := s.agree(now, by, v)
		if len(agree) == 0 {
			s.fault("%s shows %s %s by %s, where %s may be stored", v.Key, s.Name(), s.text(shown), server.Version, s.texts(now))
		}
		switch {
		case len(agree) > 0:
			now.possible = agree
		case s.Knows(by, s.Field):
			now.possible = []model.Values{shown} // whatever it should have been
		}
	}
}

// uses reports whether the field may be stored.
func (s *stored) uses() bool {
	return slices.ContainsFunc(s.possible, func(fields model.Values) bool { return len(fields) > 0 })
}

// firstSeen is what is stored in an object that was not seen before. Only of
// one that was created under this API server is anything known.
func (s survival) firstSeen(v *timeline.Version, server *timeline.Life, by model.Component) *stored {
	shown := values(s.Field, v)
	want := s.Shown(s.Field, by, shown, s.fills(v))
	createdHere := s.created(v, server)
	switch {
	case s.Enabled(by, s.Field) && !maps.Equal(shown, want):
		s.fault("%s shows %s %s by %s, instead of %s", v.Key, s.Name(), s.text(shown), server.Version, s.text(want))
	case s.Enabled(by, s.Field):
	case createdHere && len(shown) > 0:
		s.fault("%s was created with %s %s by %s, whose gate is off", v.Key, s.Name(), s.text(shown), server.Version)
	case !s.Knows(by, s.Field) && (!createdHere || s.hasVersions(v)):
		return nil // what is stored is not shown
	}
	s.lookedAt(createdHere && len(shown) > 0)
	now := &stored{resource: v.Meta().ResourceVersion, place: v.Place, possible: []model.Values{shown}}
	if !createdHere { // what is filled in may not be stored
		now.possible = append(now.possible, s.Unfilled(v.Resource, shown))
	}
	return now
}

// created reports whether an object was created by an API server, as far as is known: the time
// is, to the second.
func (s survival) created(v *timeline.Version, by *timeline.Life) bool {
	if len(s.Servers()) > 1 {
		creator, known := s.creator(v)
		return known && creator == by
	}
	at := v.Meta().CreationTimestamp
	return !at.IsZero() && !at.Time.Before(by.From.Time)
}

// rewrittenAs returns what may be stored at a version, by what may have been stored
// before it. Who wrote it is known of the scenario's own requests; any of the
// API servers that ran in the meantime may have written for another client.
func (s survival) rewrittenAs(before stored, v *timeline.Version) []model.Values {
	if v.Meta().ResourceVersion == before.resource {
		return before.possible
	}
	possible := before.possible
	writers := slices.DeleteFunc(s.ServerLives(), func(l *timeline.Life) bool { return l.Until.Place <= before.place || l.From.Place > v.Place })
	for _, l := range writers {
		after := s.updated(l, v, possible, unchanged)
		if len(s.webhooksAt(v.Place)) > 0 || s.hasVersions(v) { // it may be a part that they are not asked about, or by way of another version
			after = append(after, possible...)
		}
		if len(writers) == 1 {
			possible = after // no other API server can have
		} else {
			possible = append(slices.Clip(possible), after...)
		}
	}
	i := slices.IndexFunc(s.asked, func(a *timeline.Answer) bool { // the scenario's own request that wrote it
		return a.Object == v.Key && a.Response.Meta().ResourceVersion == v.Meta().ResourceVersion
	})
	switch {
	case s.patches(v.Place, "UPDATE", v.Resource):
		return append(slices.Clip(possible), values(s.Field, v))
	case i >= 0:
		return s.askedFor(s.asked[i], v, possible)
	default:
		return append(slices.Clip(possible), s.unanswered(before, v, writers)...)
	}
}

// unanswered is what may be stored after a write of a step that no answer tells of: of a client
// that was answered for its last one only, or of a kubectl, whose write may be seen later.
func (s survival) unanswered(before stored, v *timeline.Version, writers []*timeline.Life) (after []model.Values) {
	for _, step := range s.stepsAt(v.Place) {
		by := s.changes[step.Name]
		if by.anything {
			after = append(after, values(s.Field, v))
		}
		if !by.several {
			continue
		}
		for _, l := range writers {
			after = append(after, s.updated(l, v, before.possible, s.asks(by, v.Resource))...)
		}
	}
	return after
}

// stepsAt are the step that was being taken at a place of the record, and the one before it.
func (s survival) stepsAt(place int) []*timeline.Step {
	n := 0
	for n < len(s.Steps) && s.Steps[n].From.Place <= place {
		n++
	}
	return s.Steps[max(0, n-2):n]
}

// askedFor is what may be stored after one of the scenario's own requests.
func (s survival) askedFor(ours *timeline.Answer, v *timeline.Version, before []model.Values) (after []model.Values) {
	by := s.changes[ours.Step]
	writer, runs := s.answeredBy(ours)
	switch {
	case by.managed:
		return append(slices.Clip(before), values(s.Field, v))
	case ours.Stored: // no API server has seen to it
		for _, was := range before {
			after = append(after, s.asks(by, v.Resource)(was))
		}
		return after
	case runs:
		return s.updated(writer, ours.Response, before, s.asks(by, v.Resource)) // by the version that was asked for
	default:
		return before
	}
}

// asks is what a request asks for instead of what there was.
func (s survival) asks(by change, resource string) func(was model.Values) model.Values {
	return func(was model.Values) model.Values {
		if by.client != "" && !s.Knows(model.Component{Effective: release.Effective{Version: by.client}}, s.Field) {
			was = nil
		}
		return s.Patched(resource, by.merge, was)
	}
}

// updated is what may be stored after a write that asks for something else than
// there was.
func (s survival) updated(writer *timeline.Life, v *timeline.Version, before []model.Values, asked func(was model.Values) model.Values) (after []model.Values) {
	by, _ := s.through(writer, v)
	for _, was := range before {
		for _, admitted := range s.admitted(v.Place, "UPDATE", v.Resource, asked(was)) {
			after = append(after, s.Updated(s.Field, by, was, admitted, s.fills(v)))
		}
	}
	return after
}

// unchanged is what a write asks for that is about something else.
func unchanged(was model.Values) model.Values { return was }

// agree are those of what may be stored that an API server shows as a version does.
func (s survival) agree(now *stored, by model.Component, v *timeline.Version) (agree []model.Values) {
	shown, fills := values(s.Field, v), s.fills(v)
	for _, fields := range now.possible {
		known := slices.ContainsFunc(agree, func(other model.Values) bool { return maps.Equal(other, fields) })
		if !known && maps.Equal(s.Shown(s.Field, by, fields, fills), shown) {
			agree = append(agree, fields)
		}
	}
	return agree
}

// fills is where an API server fills the field in.
func (s survival) fills(v *timeline.Version) model.Places { return s.Fills(v.Resource, v.Fields()) }

// texts are all that may be stored.
func (s survival) texts(now *stored) string { return fmt.Sprint(s.each(now)) }

// each is each of what may be stored, once.
func (s survival) each(now *stored) (all []string) {
	for _, fields := range now.possible {
		all = append(all, s.text(fields))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s survival) text(fields model.Values) string {
	if len(fields) == 0 {
		return "unset"
	}
	return fmt.Sprint(map[string]string(fields))
}
