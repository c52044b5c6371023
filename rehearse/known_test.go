package rehearse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/rehearse"
)

const list = `apiVersion: skewrig.dev/v1alpha1
kind: KnownFindings
findings:
`

func readKnown(t *testing.T, entries string) rehearse.Known {
	t.Helper()
	known, err := rehearse.ReadKnown("known.yaml", []byte(list+entries))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func affected(kind, namespace, name string) rehearse.Affected {
	return rehearse.Affected{Ref: rehearse.Ref{Kind: kind, Namespace: namespace, Name: name}}
}

// found is a report with a finding of three objects, and a component that panics.
func found() rehearse.Report {
	return rehearse.Report{Findings: []rehearse.Finding{
		{What: rehearse.Panics, Summary: "kube-scheduler v1.36.5 panics", Stage: rehearse.Back},
		{What: rehearse.Restarts, Summary: "containers restart", Stage: rehearse.Nodes, Objects: []rehearse.Affected{
			affected("Deployment", "shop", "web-1"), affected("Deployment", "shop", "db"), affected("DaemonSet", "", "agent"),
		}},
	}}
}

// list of names of what findings are about.
func names(findings []rehearse.Finding) (all []string) {
	for _, f := range findings {
		if len(f.Objects) == 0 {
			all = append(all, f.Summary)
		}
		for _, o := range f.Objects {
			all = append(all, o.String())
		}
	}
	return all
}

func TestWithout(t *testing.T) {
	t.Parallel()
	const web, db, agent, panics = "Deployment shop/web-1", "Deployment shop/db", "DaemonSet agent", "kube-scheduler v1.36.5 panics"
	for name, test := range map[string]struct {
		entries string
		known   []string
		notices int
	}{
		"a name":                {"- {what: restarts, object: Deployment/shop/web-1, reason: r}", []string{web}, 0},
		"a pattern":             {"- {what: restarts, object: Deployment/shop/*, reason: r}", []string{web, db}, 0},
		"without a namespace":   {"- {what: restarts, object: DaemonSet/agent, reason: r}", []string{agent}, 0},
		"all in any namespace":  {"- {what: restarts, object: \"*/*/*\", reason: r}", []string{web, db}, 0},
		"two entries":           {"- {what: restarts, object: Deployment/shop/*, reason: r}\n- {what: restarts, object: DaemonSet/*, reason: r}", []string{web, db, agent}, 0},
		"a stage":               {"- {what: restarts, object: Deployment/shop/db, stage: nodes, reason: r}", []string{db}, 0},
		"another stage":         {"- {what: restarts, object: Deployment/shop/db, stage: back, reason: r}", nil, 1},
		"another class":         {"- {what: loops, object: Deployment/shop/db, reason: r}", nil, 1},
		"a star stops at /":     {"- {what: restarts, object: \"*/db\", reason: r}", nil, 1},
		"no regular expression": {"- {what: restarts, object: Deployment/shop/.., reason: r}", nil, 1},
		"a component":           {"- {what: component panics, summary: kube-scheduler *, reason: r}", []string{panics}, 0},
		"another component":     {"- {what: component panics, summary: kube-apiserver *, reason: r}", nil, 1},
		"no object":             {"- {what: component panics, object: Pod/a/b, reason: r}", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := found()
			after := before.Without(readKnown(t, test.entries))
			if got := names(after.Known); !slices.Equal(got, test.known) {
				t.Errorf("known: got %q, want %q", got, test.known)
			}
			if len(after.Notices) != test.notices {
				t.Errorf("notices: %v", after.Notices)
			}
			rest := slices.DeleteFunc(names(before.Findings), func(n string) bool { return slices.Contains(test.known, n) })
			if got := names(after.Findings); !slices.Equal(got, rest) {
				t.Errorf("findings: got %q, want %q", got, rest)
			}
			for _, k := range after.Known {
				if k.Accepted != "r" {
					t.Errorf("%s: the reason is %q", k.Summary, k.Accepted)
				}
			}
			if got := names(before.Findings); !slices.Equal(got, names(found().Findings)) {
				t.Errorf("the report before has changed: %q", got)
			}
		})
	}
}

// TestUnmatchedAfterFailure: a rehearsal that ended early does not show that an entry is superfluous.
func TestUnmatchedAfterFailure(t *testing.T) {
	t.Parallel()
	r := found()
	r.Failed = "it ended"
	if after := r.Without(readKnown(t, "- {what: loops, object: A/b, reason: r}")); len(after.Notices) != 0 {
		t.Errorf("got %v", after.Notices)
	}
}

func TestReadKnownRefuses(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"- {what: restart, object: A/b, reason: r}":                `known.yaml:4:10: unsupported value "restart": supported values: "not readable"`,
		"- {what: restarts, object: A/b, stage: x, reason: r}":     `unsupported value "x": supported values: "stored"`,
		"- {what: restarts, object: A, reason: r}":                 `"A" is not Kind/namespace/name`,
		"- {what: restarts, object: A/b/c/d, reason: r}":           `"A/b/c/d" is not Kind/namespace/name`,
		"- {what: restarts, reason: r}":                            "the field object is missing",
		"- {what: restarts, object: A/b}":                          "reason",
		"- {what: restarts, object: A/b, reason: \" \"}":           "required: why it is accepted",
		"- {what: restarts, objects: A/b, object: A/b, reason: r}": "objects",
		"  []": "it is empty",
	} {
		_, err := rehearse.ReadKnown("known.yaml", []byte(list+entry))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", entry, err, want)
		}
	}
	for _, text := range []string{"", "kind: KnownFindings", "apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\nfindings: [{what: restarts, object: A/b, reason: r}]"} {
		if _, err := rehearse.ReadKnown("known.yaml", []byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestReadKnownAsJSON(t *testing.T) {
	t.Parallel()
	known, err := rehearse.ReadKnown("known.json", []byte(`{"apiVersion": "skewrig.dev/v1alpha1", "kind": "KnownFindings", "findings": [{"what": "restarts", "object": "A/b", "reason": "r"}]}`))
	if err != nil || len(known.Findings) != 1 {
		t.Errorf("got %v, %v", known, err)
	}
}
