package mask

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", "*"},
		{" \t", "*"},
		{"*", "*"},
		{"metadata.name", "metadata.name"},
		{" status.phase ,\tmetadata.name", "metadata.name,status.phase"},
		{"spec.nodeName,spec", "spec"},
		{"spec,spec.nodeName", "spec"},
		{"spec,spec", "spec"},
		{"spec.containers.name,spec.containers.image", "spec.containers.image,spec.containers.name"},
		{"spec.containers.name,spec.containers", "spec.containers"},
		{"metadata.labels,metadata.annotations", "metadata.annotations,metadata.labels"},
		{"spec.volumes.volumeSource.hostPath.path", "spec.volumes.volumeSource.hostPath.path"},
		{"spec.containers.livenessProbe.handler.httpGet.port", "spec.containers.livenessProbe.handler.httpGet.port"},
		{"spec.ephemeralContainers.ephemeralContainerCommon.name", "spec.ephemeralContainers.ephemeralContainerCommon.name"},
		{"spec.containers.envFrom.configMapRef.localObjectReference.name", "spec.containers.envFrom.configMapRef.localObjectReference.name"},
		{"metadata.creationTimestamp,status.podIP", "metadata.creationTimestamp,status.podIP"},
		{"spec.containers.resources.limits", "spec.containers.resources.limits"},
		{"metadata,spec,status", "metadata,spec,status"},
	} {
		mask, err := Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.text, err)
			continue
		}
		if got := mask.String(); got != test.want {
			t.Errorf("Parse(%q) is %s, want %s", test.text, got, test.want)
		}
		if mask.All() != (test.want == "*") {
			t.Errorf("Parse(%q).All() is %t", test.text, mask.All())
		}
	}
}

func TestParseReportsEveryProblem(t *testing.T) {
	t.Parallel()
	type problem struct{ path, segment, says string }
	for _, test := range []struct {
		text string
		want []problem
	}{
		{"metdata.name", []problem{{"metdata.name", "metdata", `Pod has no field "metdata": did you mean "metadata"?`}}},
		{"spec.nodename", []problem{{"spec.nodename", "nodename", `PodSpec has no field "nodename": did you mean "nodeName"?`}}},
		{"status.pod_ip", []problem{{"status.pod_ip", "pod_ip", `did you mean "podIP"?`}}},
		{"spec.zzzzzzzzzzzzzzz", []problem{{"spec.zzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzz", "PodSpec has no field"}}},
		{"metadata..name", []problem{{"metadata..name", "", "empty name"}}},
		{"metadata.", []problem{{"metadata.", "", "empty name"}}},
		{".metadata", []problem{{".metadata", "", "empty name"}}},
		{"metadata.name.", []problem{{"metadata.name.", "", "empty name"}}},
		{"metadata.name,,spec", []problem{{"", "", "empty name"}}},
		{",", []problem{{"", "", "empty name"}}},
		{"spec.*", []problem{{"spec.*", "*", "end the path with its name"}}},
		{"*,spec", []problem{{"*", "*", "* alone means all"}}},
		{"metadata.name.first", []problem{{"metadata.name.first", "first", `end the path with "name"`}}},
		{"metadata.labels.app", []problem{{"metadata.labels.app", "app", "labels is a map"}}},
		{"status.startTime.seconds", []problem{{"status.startTime.seconds", "seconds", "startTime is one value"}}},
		{"spec.containers.livenessProbe.handler.httpGet.port.intVal", []problem{{"spec.containers.livenessProbe.handler.httpGet.port.intVal", "intVal", "port is one value"}}},
		{"spec.volumes.hostPath", []problem{{"spec.volumes.hostPath", "hostPath", "Volume has no field"}}},
		{"kind", []problem{{"kind", "kind", "Pod has no field"}}},
		{"metadata.nam,status.fase,metadata.uid,metadata.nam", []problem{
			{"metadata.nam", "nam", `"name"`}, {"status.fase", "fase", `"phase"`},
		}},
	} {
		_, err := Parse(test.text)
		var got Problems
		if !errors.As(err, &got) || len(got) != len(test.want) {
			t.Errorf("Parse(%q): error %v, want %d problems", test.text, err, len(test.want))
			continue
		}
		for i, want := range test.want {
			if got[i].Path != want.path || got[i].Segment != want.segment || !strings.Contains(got[i].Message, want.says) {
				t.Errorf("Parse(%q): problem %+v, want %+v", test.text, got[i], want)
			}
			if !strings.Contains(err.Error(), got[i].Message) {
				t.Errorf("Parse(%q): %q doesn't say %q", test.text, err, got[i].Message)
			}
		}
	}
}

func TestParseBoundsTheText(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("metadata.name,", MaxBytes/14-1) + "spec"
	if mask, err := Parse(fits); err != nil || mask.String() != "metadata.name,spec" {
		t.Errorf("a mask of %d bytes: %s, error %v", len(fits), mask, err)
	}
	_, err := Parse(strings.Repeat("a", MaxBytes+1))
	if err == nil || !strings.Contains(err.Error(), "at most 8192") || len(err.Error()) > 500 {
		t.Errorf("error %v, want a short one that names the limit", err)
	}
	if _, err := Parse("spec." + strings.Repeat("a", MaxBytes-5)); err == nil || len(err.Error()) > 500 {
		t.Errorf("error %v, want a short one", err)
	}
}

func TestBriefProblems(t *testing.T) {
	t.Parallel()
	_, err := Parse("a,b,c")
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	lines := strings.Split(problems.Brief(2), "\n")
	if len(lines) != 3 || lines[2] != "and 1 more" {
		t.Errorf("got %q", lines)
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want string }{
		{"*", "spec", "*"},
		{"spec", "*", "*"},
		{"spec", "spec.nodeName", "spec"},
		{"metadata.name", "metadata.uid,spec.containers.name", "metadata.name,metadata.uid,spec.containers.name"},
	} {
		a, b := mustParse(t, test.a), mustParse(t, test.b)
		if diff := cmp.Diff(test.want, a.Union(b).String()); diff != "" {
			t.Errorf("%s and %s (-want +got):\n%s", test.a, test.b, diff)
		}
		if a.String() != test.a {
			t.Errorf("%s became %s", test.a, a)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "*", "metadata.name,status.phase", "spec.containers.name, spec", "a..b,,*", "metadata.labels.app"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		mask, err := Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("the error says nothing")
			}
			return
		}
		again, err := Parse(mask.String())
		if err != nil || again.String() != mask.String() {
			t.Errorf("%q is %s, of which Parse makes %s, error %v", text, mask, again, err)
		}
	})
}

func mustParse(t testing.TB, text string) Mask {
	t.Helper()
	mask, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return mask
}
