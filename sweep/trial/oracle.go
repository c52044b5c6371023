package trial

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Oracle says what should not be, whatever the object.
type Oracle struct {
	// What is what a finding says of an object.
	What string
	// Statement is what holds otherwise, and Source the document that says so.
	Statement, Source string
	// Touched is how an object must have been touched for the oracle to say something. If unset, in any way.
	Touched Touch
	// Server is true if it is about what an API server does, so that one has to change.
	Server bool
	// Follows are what a finding may only be a consequence of: of an object that shows one of them, it
	// is not said.
	Follows []string

	// Latest is true if it is about how objects are at the end of a phase, and not about what was seen of them: it is not
	// said where states of objects may be missing from the record.
	Latest bool

	// seen says how an item shows it, and nothing if it does not.
	seen func(*judge, Item) string
}

const (
	changes     = "kubernetes/community, sig-architecture/api_changes.md"
	conventions = "kubernetes/community, sig-architecture/api-conventions.md"
)

// What findings say.
const (
	Endless   = "it is written without end"
	Asked     = "it is asked for without end"
	Events    = "events about it do not end"
	Refused   = "it is refused"
	Failed    = "the API server fails"
	Lost      = "the field is lost"
	Stored    = "the field is stored although the gate is off"
	Defaulted = "the field is filled in although the gate is off"
	Stays     = "it is not gone"
	Changed   = "it has changed once all is undone"
	Behind    = "its status is not about its spec"
	Stopped   = "its containers stop"
)

// Oracles are all, in the order of their weight.
var Oracles = []Oracle{
	{What: Endless, Statement: "A controller settles: an object, and what it owns, are written a few times after a change.", Source: conventions + ", Controllers", seen: (*judge).endless},
	{What: Asked, Statement: "A controller that has nothing to change does not write.", Source: conventions + ", Controllers", Follows: []string{Endless}, seen: (*judge).asked},
	{What: Events, Statement: "What is reported is reported a few times.", Source: conventions + ", Events", Follows: []string{Endless}, seen: (*judge).events},
	{What: Failed, Statement: "No request is answered with 500 or more.", Source: conventions + ", HTTP Status codes", seen: (*judge).failed},
	{What: Refused, Statement: "What could be changed before can be changed now.", Source: changes + ", Backward compatibility gotchas", seen: (*judge).refused},
	{What: Lost, Statement: "A field that is in use is kept while its gate is off.", Source: changes + ", Alpha field in existing API version", Server: true, Latest: true, seen: (*judge).lost},
	{What: Stored, Statement: "A new object does not get the field while its gate is off.", Source: changes + ", Alpha field in existing API version", Touched: Create, Server: true, seen: (*judge).stored},
	{What: Defaulted, Statement: "A field without a value stays so while its gate is off.", Source: changes + ", Alpha field in existing API version", Touched: Bare, Server: true, seen: (*judge).stored},
	{What: Stays, Statement: "What is deleted goes, and what it owns with it.", Source: conventions + ", Verbs on Resources", Touched: Delete, Latest: true, seen: (*judge).stays},
	{What: Changed, Statement: "Once the change is undone, an object that nobody touched is as it was.", Source: changes + ", Operational overview", Touched: Nothing, Follows: []string{Endless, Lost}, Latest: true, seen: (*judge).changed},
	{What: Behind, Statement: "A controller says in the status of an object that it has seen its spec.", Source: conventions + ", Typical status properties", Follows: []string{Endless}, Latest: true, seen: (*judge).behind},
	{What: Stopped, Statement: "Containers that run go on.", Source: "KEP template, Production Readiness Review Questionnaire, Feature Enablement and Rollback", Touched: Nothing, Latest: true, seen: (*judge).stopped},
}

// maxWrites is how often an object and what it owns may be written in a phase, how often a component may ask
// for that, and how many events there may be: a touch makes a few for each of some replicas.
const maxWrites = 60

func (j *judge) endless(i Item) string {
	return j.tooMany(func(p Phase) (int, string) { return j.of(i).writes(j.Seen, p), "writes of it and of what it owns" })
}

func (j *judge) asked(i Item) string {
	return j.tooMany(func(p Phase) (int, string) {
		return j.requests[i.Name][p], "requests to write it or what it owns"
	})
}

func (j *judge) events(i Item) string {
	return j.tooMany(func(p Phase) (int, string) {
		return j.of(i).happenings(j.Seen, p), "events about it and what it owns"
	})
}

func (j *judge) tooMany(count func(Phase) (int, string)) string {
	for _, p := range order {
		if n, of := count(p); n > maxWrites {
			from, to := j.span(p)
			return fmt.Sprintf("%d %s in %.0f s of phase %s", n, of, to.Sub(from).Seconds(), p)
		}
	}
	return ""
}

func (j *judge) failed(i Item) string {
	for _, a := range j.Answers[i.Name] {
		if a.Off.Code >= 500 && a.On.Code < 500 {
			return a.Off.Text
		}
	}
	return ""
}

func (j *judge) refused(i Item) string {
	for _, a := range j.Answers[i.Name] {
		asks := a.Touch == Create || a.Touch == Bare || a.Touch == OldClient // for another value, which may be refused
		if !asks && a.On.Text == "" && a.Off.Text != "" && a.Off.Code < 500 && !a.Off.unserved() && !a.busy() {
			return a.Off.Text
		}
	}
	return ""
}

func (j *judge) stays(i Item) string {
	there := make(map[string]bool)
	for _, v := range j.of(i).versions {
		there[v.Key] = !v.Gone() && !slices.Contains(j.Unserved, v.Resource)
	}
	for _, v := range j.of(i).versions {
		if there[v.Key] {
			return v.Key + " is there at the end"
		}
	}
	return ""
}

// stored looks for a field in an object that was made while the gates were off. An API server drops it, or
// refuses the object. Another one that has them on shows defaults in all that it reads.
func (j *judge) stored(i Item) string {
	if j.Plan.Turn.HasTwoServers() {
		return ""
	}
	_, end := j.span(Touched)
	for _, f := range i.Fields() {
		if v, is := j.of(i).valueAt(f.Path, end); is && j.off(f.Gates) {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// off reports whether one of some gates is off.
func (j *judge) off(gates []string) bool {
	return slices.ContainsFunc(gates, func(g string) bool { return slices.Contains(j.Plan.Gates, g) })
}

// lost looks for a field that was there when the gates were turned off, and that no client without it has
// written since. An API server keeps it where it is in use.
func (j *judge) lost(i Item) string {
	if i.Unknown || i.Touches.Has(OldClient) || i.Late() {
		return ""
	}
	for _, f := range i.Fields() {
		before, had := j.of(i).valueAt(f.Path, j.Began[Off])
		if !had {
			continue
		}
		for _, p := range order[1:] {
			_, end := j.span(p)
			if j.of(i).goneAt(end) {
				break
			}
			if after, has := j.of(i).valueAt(f.Path, end); !has || !reflect.DeepEqual(before, after) {
				return fmt.Sprintf("%v before, %v at the end of phase %s", before, after, p)
			}
		}
	}
	return ""
}

// changed compares an object with how it was, but for what says how it is.
func (j *judge) changed(i Item) string {
	if v := j.of(i).at(j.Ended); v != nil && v.Unserved() {
		return ""
	}
	before, after := j.of(i).wantedAt(j.Began[Off]), j.of(i).wantedAt(j.Ended)
	if before == nil || reflect.DeepEqual(before, after) || i.Kind == "Node" { // which is found not to be alive
		return ""
	}
	var names []string
	for name := range after {
		if !reflect.DeepEqual(before[name], after[name]) {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%s: %v before, %v afterwards", strings.Join(names, ", "), before, after)
}

func (j *judge) behind(i Item) string {
	_, end := j.span(Touched)
	v := j.of(i).at(end)
	if v == nil || v.Gone() {
		return ""
	}
	status, _ := v.Fields()["status"].(map[string]any)
	if _, says := status["observedGeneration"]; !says {
		return ""
	}
	w := v.Workload()
	if w.Generation == w.Status.ObservedGeneration {
		return ""
	}
	return fmt.Sprintf("generation %d, and its status is about %d", w.Generation, w.Status.ObservedGeneration)
}

// stopped looks for containers of a pod that ran before and do not, or were started again.
func (j *judge) stopped(i Item) string {
	before, after := j.of(i).at(j.Began[Off]), j.of(i).at(j.Ended)
	if i.Kind != "Pod" || before == nil || after == nil || after.Gone() {
		return ""
	}
	was, is := before.Pod().Status, after.Pod().Status
	if was.Phase == "Running" && is.Phase != "Running" {
		return fmt.Sprintf("Running before, and %s afterwards: %s", is.Phase, is.Reason)
	}
	for n := range min(len(was.ContainerStatuses), len(is.ContainerStatuses)) {
		if a, b := was.ContainerStatuses[n].RestartCount, is.ContainerStatuses[n].RestartCount; b > a {
			return fmt.Sprintf("container %s was started %d times again", is.ContainerStatuses[n].Name, b-a)
		}
	}
	return ""
}
