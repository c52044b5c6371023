package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// whole is a pod that runs. The first one is static.
func whole(i int) Pod {
	var p Pod
	p.Namespace, p.Name, p.UID = "default", fmt.Sprint("web-", i), types.UID(fmt.Sprint("uid-", i))
	p.Annotations = map[string]string{sourceAnnotation: []string{"file", "api"}[min(i, 1)]}
	p.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example/web"}}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	return p
}

func lean(i int) Pod {
	var p Pod
	p.Name, p.UID, p.Status.Phase = whole(i).Name, whole(i).UID, corev1.PodRunning
	return p
}

func answer(bytes int, make func(int) Pod) Answer {
	return Answer{Code: "OK", Pods: []Pod{make(0), make(1)}, Bytes: bytes}
}

func watched(make func(int) Pod) Watch {
	first, second := make(0), make(1)
	return Watch{Code: "OK", Events: []Event{{added, &first}, {added, &second}, {synced, nil}}}
}

// good is a record of a server that does everything.
func good() Record {
	limited := map[string]int{"OK": 12, "ResourceExhausted": 288}
	return Record{
		Path: "/var/lib/kubelet" + place, Socket: record.PodsSocket{Path: "/s", Mode: "srw-------", DirMode: "drwxr-xr-x"},
		Before: answer(2000, whole), After: answer(2000, whole), UID: "uid-0",
		Got:        Answer{Code: "OK", Pods: []Pod{whole(0)}, Bytes: 1000},
		Unknown:    Answer{Code: "NotFound", Message: "no pod " + UnknownUID},
		MaskedList: answer(100, lean), MaskedGot: Answer{Code: "OK", Pods: []Pod{lean(0)}, Bytes: 50},
		Malformed: Answer{Code: "InvalidArgument", Message: "no field " + BadPath},
		Watches:   [2]Watch{watched(whole), watched(whole)}, MaskedWatch: watched(lean),
		Lists: limited, Opened: limited,
	}
}

// both changes the pods of both lists and of the watches.
func both(r *Record, change func(*Pod)) {
	for _, p := range []*Pod{&r.Before.Pods[1], &r.After.Pods[1], r.Watches[0].Events[1].Pod, r.Watches[1].Events[1].Pod} {
		change(p)
	}
}

func TestEveryCheckCanFail(t *testing.T) {
	t.Parallel()
	shown := make(map[string]bool)
	for name, tc := range map[string]struct {
		wrong func(*Record)
		want  []string // the checks that fail, in order
	}{
		"another path":              {func(r *Record) { r.Path = "/var/lib/kubelet/pods-api/pods-api.sock" }, []string{"socket-path"}},
		"everybody's socket":        {func(r *Record) { r.Socket.Mode = "srw-rw-rw-" }, []string{"socket-is-the-owners"}},
		"a group's socket":          {func(r *Record) { r.Socket.Mode = "srw-rw----" }, []string{"socket-is-the-owners"}},
		"a group's directory":       {func(r *Record) { r.Socket.Mode, r.Socket.DirMode = "srw-rw-rw-", "drwx--x---" }, []string{"socket-is-the-owners"}},
		"the list is an error":      {func(r *Record) { r.Before = Answer{Code: "Internal", Message: "boom"} }, []string{"lists"}},
		"a pod twice":               {func(r *Record) { r.Before.Pods = append(r.Before.Pods, whole(1)) }, []string{"lists"}},
		"a pod that can't be read":  {func(r *Record) { r.Before.Pods[1] = Pod{Unreadable: "EOF"}; r.After.Pods[1] = Pod{Unreadable: "EOF"} }, []string{"lists", "pods-are-whole", "no-partial-data", "watch-begins-with-all-pods", "watches-at-the-same-time", "watch-agrees-with-list", "list-is-masked", "watch-is-masked"}},
		"no spec":                   {func(r *Record) { both(r, func(p *Pod) { p.Spec.Containers = nil }) }, []string{"pods-are-whole"}},
		"no phase":                  {func(r *Record) { both(r, func(p *Pod) { p.Status.Phase = "" }) }, []string{"pods-are-whole", "no-partial-data"}},
		"a phase of its own":        {func(r *Record) { both(r, func(p *Pod) { p.Status.Phase = "Sleeping" }) }, []string{"no-partial-data"}},
		"a container without state": {func(r *Record) { both(r, func(p *Pod) { p.Status.ContainerStatuses = nil }) }, []string{"no-partial-data"}},
		"a mirror pod":              {func(r *Record) { both(r, func(p *Pod) { p.Annotations[mirrorAnnotation] = "x" }) }, []string{"static-pods-themselves"}},
		"another pod is got":        {func(r *Record) { r.Got.Pods[0] = whole(1) }, []string{"gets-by-uid"}},
		"another spec is got":       {func(r *Record) { r.Got.Pods[0].Spec.Containers[0].Image = "other" }, []string{"gets-by-uid"}},
		"the get is an error":       {func(r *Record) { r.Got = Answer{Code: "Internal"} }, []string{"gets-by-uid"}},
		"the unknown is got":        {func(r *Record) { r.Unknown = Answer{Code: "OK", Pods: []Pod{whole(0)}} }, []string{"unknown-is-not-found", "unknown-is-named"}},
		"the unknown is not named":  {func(r *Record) { r.Unknown.Message = "not found" }, []string{"unknown-is-named"}},
		"a watch begins otherwise":  {func(r *Record) { r.Watches[0].Events[0].Type = modified }, []string{"watch-begins-with-all-pods"}},
		"a watch adds again": {func(r *Record) {
			p := whole(1)
			r.Watches[0].Events = slices.Insert(r.Watches[0].Events, 2, Event{added, &p})
		}, []string{"watch-begins-with-all-pods"}},
		"a watch has no end":        {func(r *Record) { r.Watches[0].Events = r.Watches[0].Events[:2]; r.Watches[0].Code = "DeadlineExceeded" }, []string{"watch-says-that-these-are-all", "watches-at-the-same-time"}},
		"a watch is broken":         {func(r *Record) { r.Watches[0].Events = r.Watches[0].Events[:1]; r.Watches[0].Code = "Unavailable" }, []string{"watch-begins-with-all-pods", "watch-says-that-these-are-all", "watches-at-the-same-time", "watch-agrees-with-list"}},
		"a second watch hears less": {func(r *Record) { r.Watches[1].Events = r.Watches[1].Events[1:] }, []string{"watches-at-the-same-time"}},
		"a watch has another pod": {func(r *Record) {
			p := whole(2)
			r.Watches[0].Events = slices.Insert(r.Watches[0].Events, 2, Event{added, &p})
		}, []string{"watch-agrees-with-list"}},
		"a watch has another state": {func(r *Record) { r.Watches[0].Events[1].Pod.Status.Phase = corev1.PodPending }, []string{"watch-agrees-with-list"}},
		"the list ignores masks":    {func(r *Record) { r.MaskedList = answer(2000, whole) }, []string{"list-is-masked", "answers-are-lean"}},
		"the list sends too much":   {func(r *Record) { r.MaskedList.Bytes = 1001 }, []string{"answers-are-lean"}},
		"the list masks everything": {func(r *Record) { r.MaskedList = answer(10, func(int) Pod { return Pod{} }) }, []string{"list-is-masked"}},
		"the list refuses masks":    {func(r *Record) { r.MaskedList = Answer{Code: "InvalidArgument"} }, []string{"list-is-masked", "answers-are-lean"}},
		"get ignores masks":         {func(r *Record) { r.MaskedGot.Pods[0] = whole(0) }, []string{"get-is-masked"}},
		"a watch ignores masks":     {func(r *Record) { r.MaskedWatch = watched(whole) }, []string{"watch-is-masked"}},
		"a watch leaves labels":     {func(r *Record) { r.MaskedWatch.Events[0].Pod.Labels = map[string]string{"a": "b"} }, []string{"watch-is-masked"}},
		"masks are not read":        {func(r *Record) { r.Malformed = answer(2000, whole) }, []string{"bad-mask-is-refused", "bad-path-is-named"}},
		"the path is not named":     {func(r *Record) { r.Malformed.Message = "bad mask" }, []string{"bad-path-is-named"}},
		"lists are not limited":     {func(r *Record) { r.Lists = map[string]int{"OK": many} }, []string{"too-many-are-refused"}},
		"all lists are refused":     {func(r *Record) { r.Lists = map[string]int{"ResourceExhausted": many} }, []string{"some-are-answered"}},
		"watches are not limited":   {func(r *Record) { r.Opened = map[string]int{"OK": many} }, []string{"too-many-watches-are-refused"}},
	} {
		r := good()
		tc.wrong(&r)
		failed := with(Judge(r), reports.Fail)
		if diff := cmp.Diff(tc.want, failed); diff != "" {
			t.Errorf("%s: failing checks (-want +got):\n%s", name, diff)
		}
		for _, id := range failed {
			shown[id] = true
		}
	}
	for _, c := range Judge(good()) {
		if !shown[c.ID] {
			t.Errorf("nothing makes %s fail", c.ID)
		}
		if c.Outcome != reports.Pass {
			t.Errorf("a good record: %s: %s, %s", c.ID, c.Outcome, c.Observed+c.Reason)
		}
	}
}

// with are the ids of the checks with an outcome.
func with(checks []reports.Check, outcome reports.Outcome) (ids []string) {
	for _, c := range checks {
		if c.Outcome == outcome {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestWhatCanNotBeJudged: a check that has nothing to judge neither passes nor fails,
// and has a reason.
func TestWhatCanNotBeJudged(t *testing.T) {
	t.Parallel()
	all := len(Judge(good()))
	for name, tc := range map[string]struct {
		record  func(*Record)
		outcome reports.Outcome
		count   int
		reason  string
	}{
		"no socket":          {func(r *Record) { *r = Record{Path: "/nowhere"} }, reports.NotTestable, all, "there is nothing at /nowhere"},
		"a closed door":      {func(r *Record) { *r = Record{Path: "/closed/s", Closed: true} }, reports.NotTestable, all, "may not access /closed/s"},
		"no process listens": {func(r *Record) { r.Before = Answer{Code: "Unavailable", Message: "refused"} }, reports.NotTestable, all - 2, "no answer (refused)"},
		"initializing":       {func(r *Record) { r.Before = Answer{Code: "FailedPrecondition"} }, reports.NotTestable, all - 2, "initializing"},
		"turned off":         {func(r *Record) { r.Before = Answer{Code: "Unimplemented"} }, reports.NotTestable, all - 2, "not served"},
		"no pods":            {func(r *Record) { r.Before.Pods, r.After.Pods = nil, nil }, reports.NotTestable, 10, "no pods"},
		"an error":           {func(r *Record) { r.Before = Answer{Code: "Internal"} }, reports.NotTestable, all - 3, "ListPods was answered with Internal"},
		"always other":       {func(r *Record) { r.After.Pods = r.After.Pods[:1] }, reports.Unknown, 8, "added or deleted"},
		"it went away":       {func(r *Record) { r.After = Answer{Code: "Unavailable"} }, reports.Unknown, all - 3, "went away"},
		"used up":            {func(r *Record) { r.Got = Answer{Code: "ResourceExhausted"} }, reports.Unknown, all - 3, "use up the rate"},
		"no second list":     {func(r *Record) { r.After = Answer{Code: "Internal"} }, reports.Unknown, 8, "answered with Internal"},
		"interrupted":        {func(r *Record) { r.Malformed = Answer{Code: "Canceled"} }, reports.Unknown, all - 3, "interrupted"},
		"away for the lists": {func(r *Record) { r.Lists = map[string]int{"Unavailable": many} }, reports.Unknown, 2, "300 of 300 requests were not answered: Unavailable"},
		"hangs meanwhile":    {func(r *Record) { r.Lists = map[string]int{"OK": 1, "DeadlineExceeded": many - 1} }, reports.Unknown, 1, "299 of 300 requests were not answered: DeadlineExceeded"},
		"cut off meanwhile":  {func(r *Record) { r.Opened = map[string]int{"Canceled": many} }, reports.Unknown, 1, "300 of 300 requests were not answered: Canceled"},
		"no static pods":     {func(r *Record) { r.Before.Pods[0].Annotations = nil }, reports.NotApplicable, 1, "no static pods"},
	} {
		r := good()
		tc.record(&r)
		judged := Judge(r)
		if got := with(judged, tc.outcome); len(got) != tc.count {
			t.Errorf("%s: %d checks are %s, want %d: %q", name, len(got), tc.outcome, tc.count, got)
		}
		if failed := with(judged, reports.Fail); name != "an error" && len(failed) > 0 {
			t.Errorf("%s: %q fail", name, failed)
		}
		for _, c := range judged {
			if c.Outcome == tc.outcome && !strings.Contains(c.Reason, tc.reason) {
				t.Errorf("%s: the reason of %s is %q, want %q", name, c.ID, c.Reason, tc.reason)
			}
		}
	}
}
