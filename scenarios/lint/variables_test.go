package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// everything is a cell that has something of each variable, and an expression at its end.
func everything(observe string) plan.Cell {
	cell := playground("1", "")
	for _, does := range []action.Action{
		action.Get{}, action.Kubectl{}, action.Webhook{Name: "injector"}, action.Conversion{Of: "runners.example.com"}, action.Log{}, action.Stored{}, action.Sockets{},
		action.PodsAPI{Call: action.GetPod}, action.PodsAPI{Call: action.ListPods}, action.PodsAPI{Call: action.PollPods},
		action.Checks{Checks: []action.Check{{ID: "c", Line: 1, Observe: observe}}},
	} {
		n := len(cell.Steps) + 1
		cell.Steps = append(cell.Steps, plan.Step{Number: n, Name: fmt.Sprintf("step-%d", n), Action: does})
	}
	return cell
}

// TestEachVariableIsDeclared: there are names of it that a scenario declares, and words for the names
// that none does.
func TestEachVariableIsDeclared(t *testing.T) {
	t.Parallel()
	declared := declare(everything("1"))
	for _, name := range expr.Variables() {
		v, _ := expr.VariableOf(name)
		key := "nothing/of/this"
		candidates := declared[v.Name]
		if v.Noun == "object" {
			key, candidates = "configmaps/default/setings", declared["objects"]
		}
		if len(candidates) == 0 {
			t.Errorf("no scenario has anything in %s", v.Name)
		}
		if got := fmt.Sprint(Undeclared([]plan.Cell{everything(fmt.Sprintf("%s[%q]", v.Name, key))})); v.Noun == "" || !strings.Contains(got, fmt.Sprintf("%q is no %s of this scenario: ", key, v.Noun)) {
			t.Errorf("what is in no %s is refused so: %s", v.Name, got)
		}
	}
}

// TestWhatAStepGivesIsOfItsKind: nothing else in a scenario has the name of a step.
func TestWhatAStepGivesIsOfItsKind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		does action.Action
		want string
	}{
		{action.Apply{}, "requests"}, {action.Patch{}, "requests"}, {action.Get{}, "requests"}, {action.Scrape{Component: "kube-apiserver"}, "scrapes"}, {action.Log{}, "logs"},
		{action.Written{}, "requests"}, {action.Client{}, "requests"}, {action.Kubectl{}, "kubectl"},
		{action.Stored{}, "stored"}, {action.Store{}, "stored"}, {action.Sockets{}, "sockets"}, {action.Stop{}, ""},
		{action.PodsAPI{Call: action.ListPods}, "podsAPI"}, {action.PodsAPI{Call: action.GetPod}, "podsAPI"},
		{action.PodsAPI{Call: action.WatchPods}, "podsAPI watches"}, {action.PodsAPI{Call: action.PollPods}, "polls"}, {action.PodsAPI{Call: action.EndPods}, ""},
	} {
		var got []string
		for _, r := range tc.does.Facts().Gives {
			if _, is := expr.VariableOf(r.Variable); !is {
				t.Errorf("%T gives %s, which is no variable", tc.does, r.Variable)
			}
			if r.Name == "" {
				got = append(got, r.Variable)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%T gives %v, want %s", tc.does, got, tc.want)
		}
	}
}
