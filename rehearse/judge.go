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
	j := &judge{Seen: s, found: make(map[string]*Finding), said: make(map[string]bool), notices: make(map[string]*Notice)}
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
}

// stage judges what a stage does to each object.
func (j *judge) stage(n int) {
	subject, twin := j.Subject.Stages[n], j.Twin.Stages[n]
	courses := [2]*law.Course{j.course(j.Subject, subject), j.course(j.Twin, twin)}
	for _, i := range j.Items {
		j.warnings(subject, i)
		if n == 0 {
			j.dropped(i)
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
func (j *judge) course(of Side, s StageSeen) *law.Course {
	began := map[law.Phase]time.Time{law.On: s.Began, law.Off: s.Began, law.Mutated: s.Began, law.Again: s.Ended}
	var objects []law.Object
	for _, i := range j.Items {
		objects = append(objects, i.judged(s.Name))
	}
	return law.NewCourse(law.Course{Timeline: of.Timeline, Began: began, Ended: s.Ended}, objects)
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
	twin := make(map[string]bool)
	for _, b := range courses[1].Breaches(i.judged(s.Name)) {
		twin[b.What] = true
	}
	busy := [2]map[string]int{courses[0].Busy(i.judged(s.Name), law.Mutated), courses[1].Busy(i.judged(s.Name), law.Mutated)}
	for _, b := range courses[0].Breaches(i.judged(s.Name)) {
		n, isCount := busy[0][b.What]
		alike := isCount && n < muchMore*busy[1][b.What]
		if of, is := ofBreach[b.What]; is && !twin[b.What] && !alike {
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
	for n, is := range s.Answers[i.Key] {
		was := twin.Answers[i.Key]
		if n >= len(was) {
			return
		}
		asked := RequestsOf(i.Manifest, 1)[n]
		a := law.Answer{Request: asked, On: was[n], Off: is}
		summary := NameRequest(asked) + ": " + strings.ReplaceAll(is.Text, i.Name, "NAME")
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
	s, twin := j.Subject.Stages[n], j.Twin.Stages[n]
	why := NotReadyBy(s.Objects[i.Key])
	if why != "" && s.Objects[i.Key] != nil && twin.Objects[i.Key] != nil && NotReadyBy(twin.Objects[i.Key]) == "" {
		j.finds(NotReady, "not ready any more", s.Name, i, why)
	}
}

// fields compares what an object asks for with how it was before the stage, and with the twin.
func (j *judge) fields(n int, i Item) {
	s := j.Subject.Stages[n]
	if s.Name == Deleted || s.Objects[i.Key] == nil || j.Subject.Stages[n-1].Objects[i.Key] == nil || j.Twin.Stages[n].Objects[i.Key] == nil {
		return
	}
	c := course{
		manifest: leaves(i.Manifest), stored: leaves(j.Subject.Stages[0].Objects[i.Key]),
		before: leaves(j.Subject.Stages[n-1].Objects[i.Key]), after: leaves(s.Objects[i.Key]),
		twinStored: leaves(j.Twin.Stages[0].Objects[i.Key]), twinBefore: leaves(j.Twin.Stages[n-1].Objects[i.Key]), twinAt: leaves(j.Twin.Stages[n].Objects[i.Key]),
	}
	for _, path := range c.lost() {
		j.finds(FieldLost, field(path)+" is lost", s.Name, i, fmt.Sprintf("%s: %v before", path, c.before[path]))
	}
	for _, path := range c.rewritten() {
		j.finds(Rewritten, field(path)+" is rewritten", s.Name, i, fmt.Sprintf("%s: %v before, %v afterwards", path, c.before[path], c.after[path]))
	}
	for _, path := range c.filled() {
		j.notes(fmt.Sprintf("%s fills in %s", j.To, field(path)), i)
	}
}

// dropped notes what From does not store of a manifest.
func (j *judge) dropped(i Item) {
	stored := j.Subject.Stages[0].Objects[i.Key]
	if stored == nil || i.Kind == "Secret" {
		return
	}
	c := course{manifest: leaves(i.Manifest), stored: leaves(stored)}
	for _, path := range c.dropped() {
		j.notes(fmt.Sprintf("%s does not store %s", j.From, field(path)), i)
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

// components looks for components that panic or end by themselves, and do not on the twin.
func (j *judge) components() {
	last := j.Subject.Stages[len(j.Subject.Stages)-1].Name
	if e := j.Subject.Exit; e != "" && j.Twin.Exit == "" {
		j.found[e] = &Finding{What: Panics, Summary: e, Stage: last, Advice: advice[Panics], Objects: []Affected{}}
	}
	for _, p := range j.Subject.Panics {
		if !slices.Contains(j.Twin.Panics, p) {
			j.found[p] = &Finding{What: Panics, Summary: p, Stage: last, Advice: advice[Panics], Objects: []Affected{}}
		}
	}
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
				since[name] = &Finding{
					What: Panics, Stage: s.Name, Summary: "operator " + name + " ends by itself: " + exits[len(exits)-1],
					Advice: "Look for a release of the operator that knows " + string(j.To) + ".", Objects: []Affected{},
				}
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

// finds adds an object to the finding that says the same of others, unless it was said of the object before.
func (j *judge) finds(what What, summary string, stage StageName, i Item, detail string) {
	of := fmt.Sprint(i.Key, what, summary)
	if j.said[of] {
		return
	}
	j.said[of] = true
	id := fmt.Sprint(what, stage, summary)
	if j.found[id] == nil {
		j.found[id] = &Finding{What: what, Summary: summary, Stage: stage, Advice: advice[what]}
	}
	j.found[id].Objects = append(j.found[id].Objects, Affected{Ref: i.Ref, Detail: detail})
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

// advice is what to do before the upgrade.
var advice = map[What]string{
	Unreadable: "Back it up, and do not go back once the newer release has written it.",
	FieldLost:  "Do not use the field until you will not go back; or take it out before you go back.",
	Panics:     "Do not upgrade to this release with these objects; report it.",
	Fails:      "Do not upgrade to this release with these objects; report it.",
	Refused:    "Change the manifest so that both releases take it.",
	Loops:      "Take out what the message names before the step; watch the load of the API server.",
	Restarts:   "Plan for restarts: spread replicas, and give the workload a PodDisruptionBudget.",
	Stuck:      "Look for finalizers, and delete it before the step.",
	Blocked:    "Raise replicas, or maxUnavailable of the PodDisruptionBudget, before the nodes are drained.",
	NotReady:   "Look at what the pods wait for before you upgrade.",
	Rewritten:  "Write the new value into the manifest, or whoever applies it will write it back.",
	Behind:     "Wait for its controller, or restart that.",
}
