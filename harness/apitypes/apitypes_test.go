package apitypes_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/apitypes"
)

const meta = `package v1

type TypeMeta struct {
	Kind string ` + "`json:\"kind,omitempty\"`" + `
}

type ObjectMeta struct {
	Name string ` + "`json:\"name,omitempty\"`" + `
}
`

// tools declares a kind that is stored, one that is not, and a type that is in itself.
const tools = `package v1beta1

import (
	"example.com/meta/v1"
	resource "example.com/quantities"
)

// +genclient
// +genclient:nonNamespaced

// Hammer is stored.
// +k8s:supportsSubresource="/status"
type Hammer struct {
	v1.TypeMeta   ` + "`json:\"\"`" + `
	v1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec HammerSpec ` + "`json:\"spec\"`" + `
}

type HammerSpec struct {
	Handle ` + "`json:\",inline\"`" + `

	// nails are what it is for,
	// and many.
	//
	// +featureGate=Nails
	// +optional
	Nails Nails ` + "`json:\"nails\"`" + `
	Sizes map[string]*Size ` + "`json:\"sizes,omitempty\"`" + `
	Mark  []byte ` + "`json:\"mark\"`" + `
	Cost  resource.Quantity ` + "`json:\"cost\"`" + `
	Private int ` + "`json:\"-\"`" + `
	NotInJSON int
}

type Handle struct {
	Wood Wood ` + "`json:\"wood\"`" + `
}

// +enum
type Wood string

const (
	Oak Wood = "Oak"
	Ash Wood = "Ash"
)

type (
	Nails []Nail
	Nail struct {
		// +featureGate=Nails,LongNails
		Long *bool ` + "`json:\"long,omitempty\"`" + `
		Spare []Nail ` + "`json:\"spare,omitempty\"`" + `
	}
	Size struct {
		Length int ` + "`json:\"length\"`" + `
	}
)

// +genclient
// +genclient:onlyVerbs=create
type Review struct {
	v1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
`

func read(t *testing.T, files map[string]string) *apitypes.API {
	t.Helper()
	fsys := make(fstest.MapFS)
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	api := new(apitypes.API)
	if err := api.Read(fsys, "example.com"); err != nil {
		t.Fatal(err)
	}
	return api
}

// TestAnAPIAsJSON is the same when it is read again.
func TestAnAPIAsJSON(t *testing.T) {
	t.Parallel()
	api := toolsAPI(t)
	text, err := json.Marshal(api)
	if err != nil {
		t.Fatal(err)
	}
	again := new(apitypes.API)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(api, again, cmp.AllowUnexported(apitypes.API{})); diff != "" {
		t.Error(diff)
	}
}

func toolsAPI(t *testing.T) *apitypes.API {
	t.Helper()
	return read(t, map[string]string{
		"meta/v1/types.go":           meta,
		"tools/v1beta1/types.go":     tools,
		"tools/v1beta1/register.go":  "package v1beta1\n\nconst GroupName = \"tools.example.com\"\n",
		"tools/v1beta1/generated.go": "no Go at all",
	})
}

// TestWalk: each field is visited once in each place of an object of a kind that is stored.
func TestWalk(t *testing.T) {
	t.Parallel()
	api := toolsAPI(t)
	var got strings.Builder
	for _, k := range api.Kinds() {
		fmt.Fprintf(&got, "%s namespaced=%t\n", k, k.Namespaced)
		api.Walk(k, func(p apitypes.Place) {
			fmt.Fprintf(&got, "%s optional=%t gates=%v above=%d of %s\n", p.Path, p.Field.Optional, apitypes.Valued(p.Field.Markers, "featureGate"), len(p.Above), p.Of.Name)
		})
	}
	want := `tools.example.com/v1beta1 Hammer namespaced=false
kind optional=true gates=[] above=0 of TypeMeta
metadata optional=true gates=[] above=0 of Hammer
metadata.name optional=true gates=[] above=1 of ObjectMeta
spec optional=false gates=[] above=0 of Hammer
spec.wood optional=false gates=[] above=1 of Handle
spec.nails optional=true gates=[Nails] above=1 of HammerSpec
spec.nails[].long optional=true gates=[Nails,LongNails] above=2 of Nail
spec.nails[].spare optional=true gates=[] above=2 of Nail
spec.sizes optional=true gates=[] above=1 of HammerSpec
spec.sizes{}.length optional=false gates=[] above=2 of Size
spec.mark optional=false gates=[] above=1 of HammerSpec
spec.cost optional=false gates=[] above=1 of HammerSpec
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTypes: a type has its values, and a field its comment and place.
func TestTypes(t *testing.T) {
	t.Parallel()
	api := toolsAPI(t)
	wood, known := api.Type("example.com/tools/v1beta1.Wood")
	if diff := cmp.Diff([]string{"Oak", "Ash"}, wood.Values); diff != "" || !known {
		t.Errorf("known: %t, (-want +got):\n%s", known, diff)
	}
	spec, _ := api.Type("example.com/tools/v1beta1.HammerSpec")
	want := apitypes.Field{
		Name: "nails", Type: apitypes.Ref{Name: "example.com/tools/v1beta1.Nails"}, Optional: true,
		Comment: "nails are what it is for, and many.", Markers: []string{"featureGate=Nails", "optional"},
		File: "example.com/tools/v1beta1/types.go", Line: 28,
	}
	if diff := cmp.Diff(want, spec.Fields[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, want := range []string{"", "example.com/tools/v1beta1.Nails", "example.com/tools/v1beta1.Size", "[]byte", "example.com/quantities.Quantity"} {
		if got := spec.Fields[i].Type.Name; i > 0 && got != want {
			t.Errorf("field %d is of type %s, want %s", i, got, want)
		}
	}
}

// TestNoGo: what can't be read is said with file and line.
func TestNoGo(t *testing.T) {
	t.Parallel()
	err := new(apitypes.API).Read(fstest.MapFS{"a/types.go": {Data: []byte("package a\n\ntype {\n")}}, "example.com")
	if err == nil || !strings.Contains(err.Error(), "example.com/a/types.go:3:6") {
		t.Errorf("got %v", err)
	}
}
