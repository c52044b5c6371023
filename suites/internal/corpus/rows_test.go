package main

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
)

func object(kind, name string) manifest.Object {
	spec := map[string]any{}
	if kind == "Deployment" {
		spec = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{}}}}
	}
	return manifest.Object{Object: map[string]any{"kind": kind, "apiVersion": "apps/v1", "metadata": map[string]any{"name": name}, "spec": spec}}
}

func made(name string, objects ...manifest.Object) input {
	return input{name: name, read: manifest.Input{Objects: objects}}
}

// TestGroups: inputs with an object in common are in different groups, and so are those that are too many.
func TestGroups(t *testing.T) {
	t.Parallel()
	all := []input{made("a", object("Service", "one")), made("b", object("Service", "one"), object("Service", "two")), made("c", object("Service", "three")), made("d", object("Service", "four"), object("Service", "five"), object("Service", "six"))}
	var got []string
	for _, g := range grouped(all, 2) {
		var names []string
		for _, in := range g {
			names = append(names, in.name)
		}
		got = append(got, strings.Join(names, "+"))
	}
	if want := "a+c b d"; strings.Join(got, " ") != want {
		t.Errorf("groups %q, want %q", got, want)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	in := made("shop", object("Deployment", "web"), object("Deployment", "api"), object("Service", "web"))
	of := func(file, name string) rehearse.Ref {
		return rehearse.Ref{Kind: "Deployment", Name: name, Place: manifest.Place{File: "rendered/" + file + ".yaml", Line: 1}}
	}
	r := rowOf(in, rehearse.Report{
		Stages:   []rehearse.StageResult{{Seconds: 30}, {Seconds: 60}},
		Problems: []manifest.Problem{{Place: of("shop", "").Place, Object: "Service web", Why: "refused"}, {Place: of("shop", "").Place, Harmless: true}, {Place: of("other", "").Place}},
		Objects:  []rehearse.Object{{Ref: of("shop", "web"), Pending: "0 of 1 pods are ready"}, {Ref: of("shop", "api")}, {Ref: of("other", "web"), Pending: "x"}},
		Inert:    []rehearse.Inert{{Objects: []rehearse.Ref{{Kind: "ValidatingWebhookConfiguration", Name: "x", Place: of("shop", "").Place}, of("other", "web")}}},
		Findings: []rehearse.Finding{{What: rehearse.Loops, Objects: []rehearse.Affected{{Ref: of("other", "web")}, {Ref: of("shop", "api")}}}},
	})
	if r.stored != 2 || r.workloads != 2 || r.atRest != 1 || len(r.findings) != 1 || r.minutes != 1.5 {
		t.Errorf("%+v", r)
	}
	var text strings.Builder
	if err := table(&text, []row{r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| shop |  |  | 3 | 2 | 1 | 2 | 1 | 0 | 1 | 1.5 |", "- shop, pending: Deployment web: 0 of 1 pods are ready", "- shop, not stored: Service web: refused", "- shop, open: loops"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}
