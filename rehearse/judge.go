package rehearse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/scenarios/law"
)

// Judge returns what the subject shows and the twin does not: findings, worst first, and notices.
func Judge(s Seen) ([]Finding, []Notice) {
	j := &judge{
		Seen: s, found: make(map[string]*Finding), said: make(map[string]bool), notices: make(map[string]*Notice), values: make(map[string]*values),
		records: [2]*law.Course{law.NewCourse(law.Course{Timeline: s.Subject.Timeline}, nil), law.NewCourse(law.Course{Timeline: s.Twin.Timeline}, nil)},
	}
	for n := range s.Subject.Stages {
		if n < len(s.Twin.Stages) {
			j.stage(n)
		}
	}
	j.components()
	j.operators()
	all := slices.SortedFunc(maps.Values(j.found), func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.What.Weight(), b.What.Weight()), cmp.Compare(a.Stage.Index(), b.Stage.Index()), cmp.Compare(a.Summary, b.Summary))
	})
	findings := make([]Finding, 0, len(all))
	for _, f := range all {
		findings = append(findings, *f)
	}
	notices := []Notice{}
	for _, text := range slices.Sorted(maps.Keys(j.notices)) {
		notices = append(notices, *j.notices[text])
	}
	return findings, notices
}

type judge struct {
	Seen

	found map[string]*Finding
	// said has what was found of an object already, by its key.
	said    map[string]bool
	notices map[string]*Notice
	// values are those of each object, by its key.
	values map[string]*values
	// records are those of the subject and of the twin.
	records [2]*law.Course
}

// stage judges what a stage does to each object.
func (j *judge) stage(n int) {
	subject, twin := j.Subject.Stages[n], j.Twin.Stages[n]
	courses := [2]*law.Course{j.course(j.records[0], subject), j.course(j.records[1], twin)}
	for _, i := range j.Items {
		j.warnings(subject, i)
		if n == 0 {
			j.begin(i)
			continue
		}
		j.laws(courses, subject, i)
		j.reading(n, i)
		j.answers(subject, twin, i)
		j.pods(courses, subject, twin, i)
		j.readiness(n, i)
		j.fields(n, i)
	}
	if j.From != j.To {
		j.evictions(subject)
	}
}

// course is a stage as laws judge it: all of it follows a request.
func (j *judge) course(of *law.Course, s StageSeen) *law.Course {
	began := map[law.Phase]time.Time{law.On: s.Began, law.Off: s.Began, law.Mutated: s.Began, law.Again: s.Ended}
	var objects []law.Object
	for _, i := range j.Items {
		objects = append(objects, i.judged(s.Name))
	}
	return of.During(began, s.Ended, objects)
}

// judged is an item as laws judge it in a stage.
func (i Item) judged(stage StageName) law.Object {
	asked := law.Request{Verb: law.Patches}
	if stage == Deleted {
		asked = law.Request{Verb: law.Deletes}
	}
	return law.Object{Key: i.Key, Kind: i.Kind, Name: i.Name, Requests: []law.Request{asked}}
}

// ofBreach is the class of a breach of a law, with what is said of it.
var ofBreach = map[string]struct {
	what    What
	summary string
}{
	law.Endless: {Loops, "written again and again"},
	law.Asked:   {Loops, "controllers ask again and again to write it"},
	law.Events:  {Loops, "events about it do not end"},
	law.Behind:  {Behind, "its controller has not seen its spec"},
	law.Stays:   {Stuck, "deleted, and still there"},
}

// muchMore is how much oftener than on the twin something has to happen to be without end: the bound of a law is crossed by
// chance where much is to be done.
const muchMore = 3

// laws looks for breaches that the twin does not show.
func (j *judge) laws(courses [2]*law.Course, s StageSeen, i Item) {
	o := i.judged(s.Name)
	breaches := courses[0].Breaches(o)
	if len(breaches) == 0 {
		return
	}
	twin := courses[1].Breaches(o)
	busy, busyTwin := courses[0].Busy(o, law.Mutated), courses[1].Busy(o, law.Mutated)
	for _, b := range breaches {
		n, isCount := busy[b.What]
		alike := isCount && n < muchMore*busyTwin[b.What]
		inTwin := slices.ContainsFunc(twin, func(t law.Breach) bool { return t.What == b.What })
		if of, is := ofBreach[b.What]; is && !inTwin && !alike {
			j.finds(of.what, of.summary, s.Name, i, b.Detail)
		}
	}
}

// reading looks for objects that can't be read, or are gone, and are there on the twin.
func (j *judge) reading(n int, i Item) {
	s, twin := j.Subject.Stages[n], j.Twin.Stages[n]
	if why, is := s.Unread[i.Key]; is && twin.Unread[i.Key] == "" {
		j.finds(Unreadable, "the API server can't read it", s.Name, i, why)
		return
	}
	_, was := j.Subject.Stages[n-1].Objects[i.Key]
	_, is := s.Objects[i.Key]
	_, inTwin := twin.Objects[i.Key]
	if was && !is && inTwin {
		j.finds(Unreadable, "gone", s.Name, i, "the API server has it no more")
	}
}

// answers looks for requests that are answered otherwise than on the twin.
func (j *judge) answers(s, twin StageSeen, i Item) {
	requests, was := RequestsOf(i.Manifest, 1), twin.Answers[i.Key]
	for n, is := range s.Answers[i.Key][:min(len(s.Answers[i.Key]), len(was))] {
		a := law.Answer{Request: requests[n], On: was[n], Off: is}
		summary := NameRequest(requests[n]) + ": " + strings.ReplaceAll(is.Text, i.Name, "NAME")
		switch a.Breach() {
		case law.Failed:
			j.finds(Fails, summary, s.Name, i, is.Text)
		case law.Refused:
			j.finds(Refused, summary, s.Name, i, is.Text)
		}
	}
}

// pods looks for pods that are made again, and containers that are started again, oftener than on the twin.
func (j *judge) pods(courses [2]*law.Course, s, twin StageSeen, i Item) {
	is := courses[0].PodsOf(i.judged(s.Name), s.Began, s.Ended)
	was := courses[1].PodsOf(i.judged(s.Name), twin.Began, twin.Ended)
	is.Made -= s.evictedOf(is.All) // which pods a node has is chance
	was.Made -= twin.evictedOf(was.All)
	switch {
	case is.Made > was.Made:
		j.finds(Restarts, "pods are made again", s.Name, i, fmt.Sprintf("%d new pods, %d without the upgrade", is.Made, was.Made))
	case is.Restarted > was.Restarted:
		j.finds(Restarts, "containers are started again", s.Name, i, fmt.Sprintf("%d restarts, %d without the upgrade", is.Restarted, was.Restarted))
	}
}

// readiness looks for objects that are ready on the twin alone.
func (j *judge) readiness(n int, i Item) {
	is, twin := j.Subject.Stages[n].Objects[i.Key], j.Twin.Stages[n].Objects[i.Key]
	if why := notReadyBy(is); why != "" && twin != nil && notReadyBy(twin) == "" {
		j.finds(NotReady, "not ready any more", j.Subject.Stages[n].Name, i, why)
	}
}

// begin takes the values of an object as they are stored, and notes what From does not store of its manifest.
func (j *judge) begin(i Item) {
	v := &values{manifest: leaves(i.Manifest), stored: leaves(j.Subject.Stages[0].Objects[i.Key]), twinStored: leaves(j.Twin.Stages[0].Objects[i.Key])}
	v.after, v.twinAfter = v.stored, v.twinStored
	j.values[i.Key] = v
	if v.stored == nil || i.Kind == "Secret" {
		return
	}
	for _, path := range v.dropped() {
		j.notes(fmt.Sprintf("%s does not store %s", j.From, field(path)), i)
	}
}

// fields compares the values of an object with those before the stage, and with the twin.
func (j *judge) fields(n int, i Item) {
	s, v := j.Subject.Stages[n], j.values[i.Key]
	v.next(s.Objects[i.Key], j.Twin.Stages[n].Objects[i.Key])
	if s.Name == Deleted || v.before == nil || v.after == nil || v.twinAfter == nil {
		return
	}
	for _, path := range v.lost() {
		j.finds(FieldLost, field(path)+" is lost", s.Name, i, fmt.Sprintf("%s: %v before", path, v.before[path])).Field = field(path)
	}
	for _, path := range v.rewritten() {
		j.finds(Rewritten, field(path)+" is rewritten", s.Name, i, fmt.Sprintf("%s: %v before, %v afterwards", path, v.before[path], v.after[path])).Field = field(path)
	}
	for _, path := range v.filled() {
		j.notes(fmt.Sprintf("%s fills in %s", j.To, field(path)), i)
	}
}

// warnings notes what the API server warns of.
func (j *judge) warnings(s StageSeen, i Item) {
	for _, text := range s.Warnings[i.Key] {
		j.notes("the API server warns: "+text, i)
	}
}

// evictions looks for pods that a drain could not evict, which stops the upgrade of a node.
func (j *judge) evictions(s StageSeen) {
	for _, pod := range slices.Sorted(maps.Keys(s.Evictions)) {
		for _, i := range j.Items {
			if i.hasPods() && i.owns(pod) {
				j.finds(Blocked, "a drain can't evict its pods", s.Name, i, s.Evictions[pod])
			}
		}
	}
}

// components looks for a component that ends by itself, and does not on the twin.
func (j *judge) components() {
	if e := j.Subject.Exit; e != "" && j.Twin.Exit == "" {
		j.found[e] = panicking(e, j.Subject.Stages[len(j.Subject.Stages)-1].Name)
	}
}

// panicking is the finding that a program ends by itself. It is about no object.
func panicking(summary string, stage StageName) *Finding {
	return &Finding{What: Panics, Summary: summary, Stage: stage, Advice: Panics.Advice(), Objects: []Affected{}}
}

// operators looks for operators that end by themselves oftener than on the twin: from a stage on, and to the end. When exactly
// they end is chance.
func (j *judge) operators() {
	more := make(map[string]int) // how much oftener by now, by name
	since := make(map[string]*Finding)
	for n, s := range j.Subject.Stages {
		for name, exits := range s.Exits {
			more[name] += len(exits)
		}
		if n < len(j.Twin.Stages) {
			for name, exits := range j.Twin.Stages[n].Exits {
				more[name] -= len(exits)
			}
		}
		for name, exits := range s.Exits {
			if more[name] > 0 && since[name] == nil {
				since[name] = panicking("operator "+name+" ends by itself: "+exits[len(exits)-1], s.Name)
				since[name].Advice = "Look for a release of the operator that knows " + string(j.To) + "."
			}
		}
		for name := range since {
			if more[name] <= 0 {
				delete(since, name)
			}
		}
	}
	for name, f := range since {
		j.found["operator "+name] = f
	}
}

// finds adds an object to the finding that says the same of others, and returns it. If it was said of the object before, it is
// another one that is not kept.
func (j *judge) finds(what What, summary string, stage StageName, i Item, detail string) *Finding {
	of := fmt.Sprint(i.Key, what, summary)
	if j.said[of] {
		return new(Finding)
	}
	j.said[of] = true
	id := fmt.Sprint(what, stage, summary)
	if j.found[id] == nil {
		j.found[id] = &Finding{What: what, Summary: summary, Stage: stage, Advice: what.Advice()}
	}
	j.found[id].Objects = append(j.found[id].Objects, Affected{Ref: i.Ref, Detail: detail})
	return j.found[id]
}

// notes adds an object to a notice.
func (j *judge) notes(text string, i Item) {
	if j.notices[text] == nil {
		j.notices[text] = &Notice{Text: text}
	}
	n := j.notices[text]
	if !slices.Contains(n.Objects, i.Ref) {
		n.Objects = append(n.Objects, i.Ref)
	}
}
