package conformance

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/skewrig/skewrig/reports"
)

// onlyFields is what is expected of a masked answer.
const onlyFields = "only " + Fields + ", as the request's field mask says"

var maskChecks = []check{
	{
		"list-is-masked", "mask/list", onlyFields, whenSteady,
		func(r Record) (reports.Outcome, string) { return masked(r.MaskedList, r) },
	},
	{
		"get-is-masked", "mask/get", onlyFields, whenSteady,
		func(r Record) (reports.Outcome, string) {
			if outcome, what := gotOne(r.MaskedGot, r.UID); outcome != reports.Pass {
				return outcome, what
			}
			return none(each(r.MaskedGot.Pods, notOnlyFields), "as the mask says")
		},
	},
	{
		"watch-is-masked", "mask/watch", onlyFields, whenSteady,
		func(r Record) (reports.Outcome, string) {
			answer := Answer{Code: r.MaskedWatch.Code, Message: r.MaskedWatch.Message}
			for _, e := range r.MaskedWatch.Events {
				if e.Pod != nil && (e.Type == added || e.Type == modified) {
					answer.Pods = append(answer.Pods, *e.Pod)
				}
			}
			return masked(answer, r)
		},
	},
	{
		"bad-mask-is-refused", "mask/validated", codes.InvalidArgument.String(), whenListed,
		func(r Record) (reports.Outcome, string) {
			return held(r.Malformed.Code == codes.InvalidArgument.String()), r.Malformed.Code
		},
	},
	{
		"bad-path-is-named", "mask/validated", "the error has the path " + BadPath, whenListed,
		func(r Record) (reports.Outcome, string) {
			return held(strings.Contains(r.Malformed.Message, BadPath)), quoted(r.Malformed.Message)
		},
	},
	{
		"answers-are-lean", "mask/lean", "the list with a field mask has less than half the bytes of the one without", whenSteady,
		func(r Record) (reports.Outcome, string) {
			lean := r.MaskedList.Code == ok && r.MaskedList.Bytes > 0 && 2*r.MaskedList.Bytes < r.Before.Bytes
			return held(lean), fmt.Sprintf("%d bytes, and %d without", r.MaskedList.Bytes, r.Before.Bytes)
		},
	},
}

// masked says whether an answer has all pods, and of them what the mask has.
func masked(a Answer, r Record) (reports.Outcome, string) {
	if a.Code != ok {
		return reports.Fail, fmt.Sprintf("%s: %s", a.Code, a.Message)
	}
	return none(append(each(a.Pods, notOnlyFields), missing(r.Before, a.byUID())...), fmt.Sprintf("%s, as the mask says", counted(a)))
}

// notOnlyFields says whether a pod has more or less than Fields.
func notOnlyFields(p Pod) string {
	var want corev1.Pod
	want.Name, want.UID, want.Status.Phase = p.Name, p.UID, p.Status.Phase
	switch {
	case unnamed(p) != "":
		return unnamed(p)
	case p.Status.Phase == "":
		return "has no phase"
	case len(p.Spec.Containers) > 0:
		return "has its containers"
	case !equality.Semantic.DeepEqual(want, p.Pod):
		return "has more than these fields"
	}
	return ""
}
