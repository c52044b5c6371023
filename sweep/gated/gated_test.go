package gated_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/gated"
)

// tools is the source of an API. A quote stands for that of a tag.
const tools = `package v1

// +genclient
type Hammer struct {
	metav1.ObjectMeta 'json:"metadata,omitempty"'
	Spec HammerSpec   'json:"spec"'
}

// +genclient
// +k8s:prerelease-lifecycle-gen:removed=1.90
type Saw struct {
	metav1.ObjectMeta 'json:"metadata,omitempty"'
	Spec HammerSpec   'json:"spec"'
}

type HammerSpec struct {
	// +featureGate=Nails
	// +optional
	Nails []Nail 'json:"nails,omitempty"'
	// wood is of any kind. This field requires the ` + "`SoftWood`" + ` feature gate for Fir.
	// +default="Oak"
	// +k8s:alpha(since: "1.89")=+k8s:maxLength=9
	Wood Wood 'json:"wood"'
	// Hardly any user has said SoftWood of this one.
	Iron string 'json:"iron"'
	// +featureGate=Forgotten
	Rust bool 'json:"rust"'
}

// +enum
type Wood string

const (
	Oak Wood = "Oak"
	Fir Wood = "Fir"
)

type Nail struct {
	// +featureGate=LongNails,Nails
	Long *bool 'json:"long,omitempty"'
	// +featureGate=BentNails
	Bent *bool 'json:"bent,omitempty"'
}

// Options are of a request.
type Options struct {
	// +featureGate=BentNails
	Bent bool 'json:"bent"'
}
`

func read(t *testing.T, source string) *apitypes.API {
	t.Helper()
	api := new(apitypes.API)
	source = strings.ReplaceAll(source, "'", "`")
	if err := api.Read(fstest.MapFS{"tools/v1/types.go": {Data: []byte(source)}}, "k8s.io/api"); err != nil {
		t.Fatal(err)
	}
	return api
}

var table = []release.Gate{
	{Name: "BentNails", Stage: release.Alpha, Needs: []string{"Nails"}},
	{Name: "LongNails", Stage: release.Beta, Default: true},
	{Name: "Nails", Stage: release.GA, Default: true, Locked: true, Versions: []release.GateVersion{{Since: "v1.88", Stage: release.Alpha}, {Since: "v1.90", Stage: release.GA, Default: true, Locked: true}}},
	{Name: "Quiet", Stage: release.Alpha},
	{Name: "SoftWood", Stage: release.Alpha},
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// TestOf: each gate has the fields that markers and comments say it guards, in the kinds that the
// release serves, with the gates of what they are in.
func TestOf(t *testing.T) {
	t.Parallel()
	golden.Check(t, "testdata/of.json", asJSON(t, gated.Of("v1.90.1", table, read(t, tools))))
}

// TestCompare: a difference is one of a gate, a kind or a field, and says what it was and is.
func TestCompare(t *testing.T) {
	t.Parallel()
	changed := strings.NewReplacer(
		"+featureGate=LongNails,Nails", "+optional",
		`+default="Oak"`, `+default="Fir"`,
		`Fir Wood = "Fir"`, `Elm Wood = "Elm"`,
		`+k8s:alpha(since: "1.89")=+k8s:maxLength=9`, `+k8s:beta(since: "1.91")=+k8s:maxLength=8`,
		"Iron string", "Iron []int32",
		`Rust bool 'json:"rust"'`, `Moss bool 'json:"moss,omitempty"'`,
		"removed=1.90", "removed=1.92",
	).Replace(tools)
	gates := []release.Gate{table[1], table[2], {Name: "Quiet", Stage: release.Beta, Default: true, Locked: true}, {Name: "Young", Stage: release.Alpha, Needs: []string{"Quiet"}}}
	before, after := read(t, tools), read(t, changed)
	d := gated.Compare(gated.Of("v1.90.1", table, before), gated.Of("v1.91.0", gates, after), before, after)
	golden.Check(t, "testdata/compare.json", asJSON(t, d)+d.Counts()+"\n")
}

// TestNothingDiffers: a release does not differ from itself.
func TestNothingDiffers(t *testing.T) {
	t.Parallel()
	api := read(t, tools)
	r := gated.Of("v1.90.1", table, api)
	if got, want := gated.Compare(r, r, api, api).Counts(), "gates: 0 added, 0 removed, 0 changed; kinds: 0 added, 0 removed, 0 changed; fields: 0 added, 0 removed, 0 changed"; got != want {
		t.Errorf("got %s", got)
	}
}
