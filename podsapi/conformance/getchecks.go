package conformance

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/skewrig/skewrig/reports"
)

var getChecks = []check{
	{
		"gets-by-uid", "get/by-uid", "GetPod returns the pod of the list that has the UID", whenSteady,
		func(r Record) (reports.Outcome, string) {
			if outcome, what := gotOne(r.Got, r.UID); outcome != reports.Pass {
				return outcome, what
			}
			want, got := r.Before.byUID()[r.UID], r.Got.Pods[0]
			if got.name() != want.name() || !equality.Semantic.DeepEqual(got.Spec, want.Spec) {
				return reports.Fail, fmt.Sprintf("pod %s, whose name or spec differs from that in ListPods", got.name())
			}
			return reports.Pass, "pod " + got.name()
		},
	},
	{
		"unknown-is-not-found", "get/not-found", codes.NotFound.String(), whenListed,
		func(r Record) (reports.Outcome, string) {
			return held(r.Unknown.Code == codes.NotFound.String()), r.Unknown.Code
		},
	},
	{
		"unknown-is-named", "get/not-found", "the error has the UID " + UnknownUID, whenListed,
		func(r Record) (reports.Outcome, string) {
			return held(strings.Contains(r.Unknown.Message, UnknownUID)), quoted(r.Unknown.Message)
		},
	},
}

// gotOne says whether an answer is the one pod with a UID.
func gotOne(a Answer, uid string) (reports.Outcome, string) {
	switch {
	case a.Code != ok:
		return reports.Fail, fmt.Sprintf("%s: %s", a.Code, a.Message)
	case len(a.Pods) != 1 || a.Pods[0].Unreadable != "":
		return reports.Fail, "no pod that can be read"
	case string(a.Pods[0].UID) != uid:
		return reports.Fail, fmt.Sprintf("pod %s, with the UID %q and not %q", a.Pods[0].name(), a.Pods[0].UID, uid)
	}
	return reports.Pass, ""
}

func quoted(message string) string {
	if message == "" {
		return "no message"
	}
	return fmt.Sprintf("%q", message)
}
