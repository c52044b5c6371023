package show

import (
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/scenarios/spec"
	"github.com/skewrig/skewrig/sweep/story"
)

// StoryDraft is the draft of an issue about a finding of ordinary objects.
type StoryDraft struct {
	Finding story.Finding
	Version release.Version
	// Story is the one that confirmed the finding, as it is in its namespace, and Found is what was seen of it.
	Story story.Story
	Found story.Found
	// Scenario and Control are the files that show it, and the same without the act after which it was seen. Control is empty if
	// there was no act.
	Scenario, Control string
}

// Write writes the draft as Markdown. Its first line is the title.
func (d StoryDraft) Write(w io.Writer) error {
	steps, err := d.reproduce()
	if err != nil {
		return err
	}
	report := render.BugReport{
		Title: d.Finding.Signature(), Happened: d.happened(), Expected: d.expected(), Reproduce: steps,
		Version: render.MarkdownBlock("console", string(d.Version)),
	}
	return writeDraft(w, report)
}

func (d StoryDraft) happened() string {
	text := fmt.Sprintf("%s: %s.\n\n%s\n\nAlone: %s", render.MarkdownText(d.Found.Object), render.MarkdownText(d.Finding.Law), render.MarkdownBlock("console", d.Found.Detail), d.Found.Alone)
	if d.Found.Control != nil {
		text += fmt.Sprintf("; without the act %q: %s", d.Story.Acts[d.Found.Act-1].Words, d.Found.Control)
	}
	return text + ".\n"
}

// expected is the law and its source; of what is judged by answers alone, the breach says it.
func (d StoryDraft) expected() string {
	l, is := rest.Named(d.Finding.Law)
	if !is {
		return "No component panics, no request is answered with 500, and no change is refused for what it does not change.\n"
	}
	return fmt.Sprintf("%s (%s)\n", l.Statement, l.Source)
}

// reproduce says how to see it, with skewrig and without.
func (d StoryDraft) reproduce() (string, error) {
	commands, err := d.commands()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\n\nWithout skewrig, on a cluster with nodes node-a and node-b:\n\n%s\n",
		withSkewrig(runsOf(d.Scenario, d.Control)), render.MarkdownBlock("sh", strings.Join(commands, "\n"))), nil
}

// commands do what the story does.
func (d StoryDraft) commands() ([]string, error) {
	var all []string
	if len(d.Story.Gates) > 0 {
		all = append(all, "# Start each component with --feature-gates="+release.Gates(d.Story.Gates).Flag()+", "+record.APIServer+" also with --runtime-config=api/all=true")
	}
	created, err := applied(d.Story.Objects)
	if err != nil {
		return nil, err
	}
	all = append(all, "kubectl create namespace "+story.Namespace(0), created)
	for _, act := range d.Story.Acts[:min(d.Found.Act, len(d.Story.Acts))] {
		all = append(all, "# once all is at rest: "+act.Words)
		steps := act.Steps
		if act.Fault != nil {
			steps = append([]story.Step{*act.Fault}, steps...)
		}
		for _, step := range steps {
			text, err := commandOf(step)
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
	}
	return append(all, "kubectl get "+named(d.Found.Object)+" -o yaml"), nil
}

// applied creates objects.
func applied[M ~map[string]any](objects []M) (string, error) {
	var documents []string
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return "", err
		}
		documents = append(documents, string(text))
	}
	return "kubectl create -f - <<'EOF'\n" + strings.Join(documents, "---\n") + "EOF", nil
}

// named are the words by which kubectl knows an object.
func named(object string) string {
	ref, err := spec.ParseObjectRef(object)
	if err != nil {
		return object
	}
	text := ref.Resource + " " + ref.Name
	if ref.Namespace != "" {
		text += " --namespace=" + ref.Namespace
	}
	return text
}

// commandOf is a step as a command, or as a comment if kubectl has none for it.
func commandOf(step story.Step) (string, error) {
	fields := func(action string) map[string]any { m, _ := step[action].(map[string]any); return m }
	switch {
	case step["apply"] != nil:
		list, _ := step["apply"].([]any)
		var objects []map[string]any
		for _, o := range list {
			object, _ := o.(map[string]any)
			objects = append(objects, object)
		}
		return applied(objects)
	case step["patch"] != nil:
		p := fields("patch")
		body, err := quoted(p["merge"])
		text := "kubectl patch " + named(fmt.Sprint(p["object"])) + " --type=merge"
		part, _ := p["subresource"].(string)
		if merge, _ := p["merge"].(map[string]any); part == "" && kube.IsOfStatus(merge) {
			part = "status"
		}
		if part != "" {
			text += " --subresource=" + part
		}
		return text + " --patch=" + body, err
	case fields("delete")["object"] != nil:
		text := "kubectl delete --wait=false " + named(fmt.Sprint(fields("delete")["object"]))
		if propagation, is := fields("delete")["propagation"].(string); is {
			text += " --cascade=" + strings.ToLower(propagation)
		}
		return text, nil
	case fields("delete")["each"] != nil:
		resource, namespace, _ := strings.Cut(fmt.Sprint(fields("delete")["each"]), "/")
		return fmt.Sprintf("kubectl delete --wait=false %s --all --namespace=%s", resource, namespace), nil
	case fields("wait")["for"] != nil:
		return fmt.Sprintf("sleep %v", fields("wait")["for"]), nil
	default:
		text, err := yaml.Marshal(step)
		return "# " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n# "), err
	}
}
