package watchdog

import (
	"fmt"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	resource := func(replicas int, annotations ...string) Resource {
		r := Resource{Exists: true, Replicas: replicas, Annotations: map[string]string{}}
		for i := 0; i < len(annotations); i += 2 {
			r.Annotations[annotations[i]] = annotations[i+1]
		}
		return r
	}
	const (
		unmark   = "remove meltdown-protection-active"
		notThere = "it is not there"
		invalid  = `how many replicas it had: strconv.Atoi: parsing "two": invalid syntax`
	)
	for _, tc := range []struct {
		name             string
		op               Operation
		optional         bool
		resource         Resource
		text, v123, v180 string
	}{
		{"down", ScaleDown, false, resource(2),
			`annotate meltdown-protection-active="", replicas="2"; scale to 0; waits`, `annotate replicas="2"; scale to 0; waits`,
			`annotate meltdown-protection-active="", replicas="2"; scale to 0; waits`},
		{"is down", ScaleDown, false, resource(0), "", "waits", ""},
		{"up", ScaleUp, false, resource(0, Replicas, "2"), "scale to 2; " + unmark + "; waits", "scale to 2; waits", "scale to 2; " + unmark + "; waits"},
		{"is up", ScaleUp, false, resource(1), "", "waits", ""},
		{"is up, and still marked", ScaleUp, false, resource(1, MeltdownProtection, ""), unmark, "waits", unmark},
		{"marked, and another client has scaled it up", ScaleDown, false, resource(1, MeltdownProtection, ""),
			`annotate meltdown-protection-active="", replicas="1"; scale to 0; waits`, `annotate replicas="1"; scale to 0; waits`,
			`annotate meltdown-protection-active="", replicas="1"; scale to 0; waits`},
		{"another client had scaled it down", ScaleUp, false, resource(0), "", "scale to 1; waits", "scale to 1; " + unmark + "; waits"},
		{"it remembers nothing", ScaleUp, false, resource(0, Replicas, "0"), "scale to 0; " + unmark + "; waits", "scale to 0; waits", "scale to 0; " + unmark + "; waits"},
		{"what it remembers can't be read", ScaleUp, false, resource(0, Replicas, "two"), invalid, invalid, invalid},
		{"to be ignored", ScaleDown, false, resource(1, IgnoreScaling, "true"), "", "", ""},
		{"to be ignored, in other words", ScaleUp, false, resource(0, IgnoreScaling, "T"), "", "", ""},
		{"not to be ignored", ScaleDown, false, resource(1, IgnoreScaling, "no"),
			`annotate meltdown-protection-active="", replicas="1"; scale to 0; waits`, `annotate replicas="1"; scale to 0; waits`,
			`annotate meltdown-protection-active="", replicas="1"; scale to 0; waits`},
		{"to be ignored from now on", ScaleDown, false, resource(0, IgnoreScaling, "true", MeltdownProtection, ""), unmark, "", unmark},
		{"not there", ScaleDown, false, Resource{}, notThere, notThere, notThere},
		{"not there, and need not be", ScaleUp, true, Resource{}, "", "", ""},
	} {
		for release, want := range map[string]string{Text: tc.text, "v1.2.3": tc.v123, "v1.8.0": tc.v180} {
			changes, waits, err := BehaviorOf(release).Changes(tc.op, Dependent{Optional: tc.optional}, tc.resource)
			var words []string
			for _, c := range changes {
				words = append(words, c.String())
			}
			if waits {
				words = append(words, "waits")
			}
			if err != nil {
				words = append(words, err.Error())
			}
			if got := strings.Join(words, "; "); got != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", tc.name, release, got, want)
			}
		}
	}
}

// TestAChangeIsItsOwn: what is scaled down and up again is as it was, but for
// what it remembers.
func TestAChangeIsItsOwn(t *testing.T) {
	t.Parallel()
	first := Resource{Exists: true, Replicas: 3, Ready: 3, Annotations: map[string]string{"a": "b"}}
	r := first
	for _, op := range []Operation{ScaleDown, ScaleUp} {
		changes, _, err := BehaviorOf("v1.8.0").Changes(op, Dependent{}, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			r = c.To(r)
		}
		if op == ScaleDown && r.Replicas != 0 {
			t.Errorf("it has %d replicas", r.Replicas)
		}
	}
	if got, want := fmt.Sprint(r), fmt.Sprint(Resource{Exists: true, Replicas: 3, Ready: 3, Annotations: map[string]string{"a": "b", Replicas: "3"}}); got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
	if len(first.Annotations) != 1 {
		t.Errorf("what it was has changed: %v", first.Annotations)
	}
}
