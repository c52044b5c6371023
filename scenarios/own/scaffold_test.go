package own

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

const madeUp = "# KEP-9999: Made Up\n\n## Summary\n\nIt is made up.\n\n## Graduation Criteria\n\n### Alpha\n\n- It works\n"

const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// TestScaffold holds the scenarios of a KEP against testdata, around a Deployment and an object
// without pods. They are a catalog.
func TestScaffold(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{"deployment": deployment, "claim": claim, "sample": ""} {
		var object []byte
		if manifest != "" {
			object = []byte(manifest)
		}
		files, err := Scaffold(madeUp, "GRPCContainerProbeTLS", object)
		if err != nil {
			t.Fatal(err)
		}
		texts := make(map[string]string)
		for path, text := range files {
			texts[path] = string(text)
			if filepath.Dir(path) == "scenarios" && manifest != "" {
				golden.Check(t, filepath.Join("testdata", "scaffold", name, filepath.Base(path)), string(text))
			}
		}
		c, err := Load(write(t, texts))
		if err != nil || len(c.Cells) != 7 || len(c.Requirements) != 6 {
			t.Errorf("%s: it has %d cells and %d requirements: %v", name, len(c.Cells), len(c.Requirements), err)
		}
	}
}

func TestScaffoldRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ readme, gate, manifest, want string }{
		"another text":     {"# A title", "GRPCContainerProbeTLS", claim, "no README of an enhancement"},
		"an unknown gate":  {madeUp, "GRPCContainerProbeTls", claim, "did you mean GRPCContainerProbeTLS?"},
		"no object":        {madeUp, "GRPCContainerProbeTLS", "a: b", "not the manifest of an object"},
		"several of them":  {madeUp, "GRPCContainerProbeTLS", claim + "---\n" + claim, "another document"},
		"no YAML":          {madeUp, "GRPCContainerProbeTLS", "\t", "not the manifest of an object"},
		"a name of no DNS": {madeUp, "GRPCContainerProbeTLS", "kind: Pod\nmetadata: {name: A}", "not the manifest of an object"},
	} {
		if _, err := Scaffold(tc.readme, tc.gate, []byte(tc.manifest)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}
