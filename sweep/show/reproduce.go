package show

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// reproduce says how to see it, with skewrig and without.
func (d Draft) reproduce() (string, error) {
	if len(d.Cases) == 0 {
		return "It was seen in the sweep below, and there is no scenario of it.\n", nil
	}
	var b strings.Builder
	if runs := d.runs(); runs != "" {
		b.WriteString(withSkewrig(runs) + "\n\n")
	}
	first := d.Cases[0]
	object, err := yaml.Marshal(first.Object)
	if err != nil {
		return "", err
	}
	commands, err := first.commands()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "Without skewrig, with this object as `object.yaml`:\n\n%s\n\n%s\n", render.MarkdownBlock("yaml", string(object)), render.MarkdownBlock("sh", strings.Join(commands, "\n")))
	return b.String(), nil
}

// withSkewrig says how to install skewrig, and what to run.
func withSkewrig(runs string) string {
	return "With skewrig, which runs the released components without containers:\n\n" + render.MarkdownBlock("sh", reports.Reproduce{}.Install()+"\n"+runs)
}

func (d Draft) runs() string {
	var lines []string
	for _, c := range d.Cases {
		if runs := runsOf(c.Scenario, c.Control); runs != "" {
			lines = append(lines, runs)
		}
	}
	return strings.Join(lines, "\n")
}

// runsOf are the commands that run a scenario and its control, of which each may be unset.
func runsOf(scenario, control string) string {
	var lines []string
	if scenario != "" {
		lines = append(lines, "skewrig run "+scenario)
	}
	if control != "" {
		lines = append(lines, "skewrig run "+control+"  # the control")
	}
	return strings.Join(lines, "\n")
}

// commands are for a cluster whose components one can restart.
func (c Case) commands() ([]string, error) {
	all := []string{"# Start a control plane of " + string(c.Alone.Version) + c.with() + ", each component with --feature-gates=" + c.Alone.On.Flag() + ", " + record.APIServer + " also with --runtime-config=api/all=true"}
	if !c.Late() {
		all = append(all, "kubectl create -f object.yaml")
	}
	for _, component := range c.Alone.Transition.At {
		all = append(all, c.changed(component))
	}
	for _, r := range c.Requests() {
		command, err := c.command(r)
		if err != nil {
			return nil, err
		}
		all = append(all, command)
	}
	if c.Alone.Killed != "" {
		all = append(all, "# Kill "+c.Alone.Killed+", and start it again")
	}
	all = append(all, fmt.Sprintf("kubectl get %s/%s -o yaml  # and what it owns, for a minute", c.Resource, c.Name))
	for _, component := range slices.Backward(c.Alone.Transition.At) {
		all = append(all, "# Restart "+component+" as before")
	}
	return append(all, fmt.Sprintf("kubectl get %s/%s -o yaml", c.Resource, c.Name)), nil
}

// with says what the control plane has beside one of each component.
func (c Case) with() string {
	switch {
	case c.Alone.Transition.HasNode():
		return " with the node " + trial.Node
	case c.Alone.Transition.HasTwoServers():
		return fmt.Sprintf(" with two API servers on one etcd: %s, which kubectl asks, and %s, which controllers ask", trial.ClientsServer, trial.ControllersServer)
	default:
		return ""
	}
}

// changed says how a component is changed.
func (c Case) changed(component string) string {
	if c.Alone.Transition.To != "" {
		return fmt.Sprintf("# Restart %s as %s, without --feature-gates", component, c.Alone.Transition.To)
	}
	return fmt.Sprintf("# Restart %s with --feature-gates=%s", component, c.Alone.To.Flag())
}

// command is a request as a command.
func (c Case) command(r law.Request) (string, error) {
	at := c.Resource + " " + c.Name
	body, err := quoted(r.Body)
	if err != nil {
		return "", err
	}
	switch r.Verb {
	case law.Deletes:
		return "kubectl delete " + at + " --wait=false", nil
	case law.Creates:
		if len(r.Without) == 0 {
			return "kubectl create -f object.yaml", nil
		}
		return "echo " + body + " | kubectl create -f -", nil
	case law.Applies:
		return "echo " + body + " | kubectl apply --server-side --field-manager=" + trial.Manager + " -f -", nil
	case law.Puts:
		known := "."
		if len(r.Without) > 0 {
			known = "del(" + jqPaths(r.Without) + ")"
		}
		return fmt.Sprintf("kubectl get %s -o json | jq --argjson more %s '%s * $more' | kubectl replace -f -", at, body, known), nil
	default:
		below := ""
		if r.Subresource != "" {
			below = " --subresource=" + r.Subresource
		}
		return fmt.Sprintf("kubectl patch %s%s --type=merge -p %s", at, below, body), nil
	}
}

// jqPaths are paths as jq has them.
func jqPaths(paths []string) string {
	var all []string
	for _, path := range paths {
		all = append(all, "."+strings.ReplaceAll(path, "{}", "[]"))
	}
	return strings.Join(all, ", ")
}

// quoted is JSON as a word of a shell.
func quoted(v any) (string, error) {
	text, err := json.Marshal(v)
	return "'" + strings.ReplaceAll(string(text), "'", `'\''`) + "'", err
}
