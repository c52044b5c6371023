package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/scenarios/action"
)

// runners are custom resources of two versions.
func runners() map[string]any {
	crd := action.CRD{Group: "example.com", Kind: "Runner", Versions: []action.CRDVersion{{Name: "v1"}, {Name: "v2"}}}
	return crd.Definition(nil)
}

func TestTablesAreMarked(t *testing.T) {
	t.Parallel()
	r, definition := new(run), runners()
	if first, second := r.mark(definition), r.mark(definition); first == second || second == "" {
		t.Errorf("the marks are %q and %q", first, second)
	}
	for _, v := range definition["spec"].(map[string]any)["versions"].([]any) {
		if columns := v.(map[string]any)["additionalPrinterColumns"].([]any); len(columns) != 1 || columns[0].(map[string]any)["description"] != "2" {
			t.Errorf("the columns are %v", columns)
		}
	}
}

func TestWhereATableHasNoRows(t *testing.T) {
	t.Parallel()
	ofCluster := runners()
	ofCluster["spec"].(map[string]any)["scope"] = "Cluster"
	ofCluster["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["served"] = false
	for want, definition := range map[string]map[string]any{
		"/apis/example.com/v1/namespaces/default/runners?fieldSelector=metadata.name%3Dmark": runners(),
		"/apis/example.com/v2/runners?fieldSelector=metadata.name%3Dmark":                    ofCluster,
	} {
		if got, err := tablePath(definition); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

func TestIsMarked(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mark := metav1.TableColumnDefinition{Name: markColumn, Description: r.URL.Path[1:]}
		_ = json.NewEncoder(w).Encode(metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Description: "7"}, mark}})
	}))
	defer server.Close()
	for path, want := range map[string]bool{"/7": true, "/6": false} {
		if got := isMarked(t.Context(), &rest.Config{Host: server.URL}, path, "7"); got != want {
			t.Errorf("at %s it is marked: %t", path, got)
		}
	}
	if isMarked(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, "/", "7") {
		t.Error("what does not answer is marked")
	}
}
