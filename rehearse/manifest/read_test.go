package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object is a document without anything special.
const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"

// lines shows what was read: the place and name of each object, and the problems.
func lines(objects []Object, problems []Problem) (all []string) {
	for _, o := range objects {
		all = append(all, fmt.Sprintf("%s #%d %s", o.Place, o.Document, calledBy(o.Object)))
	}
	for _, p := range problems {
		all = append(all, p.Error())
	}
	return all
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"comments only", "# a\n---\n\n---\n# b", nil},
		{"null", "null\n---\n~\n", nil},
		{"several documents", "# a\n\n" + object + "---\n" + strings.Replace(object, ": a", ": b", 1) + "--- # c\n\n# d\n" + strings.Replace(object, ": a", ": c", 1),
			[]string{"f:3 #1 ConfigMap a", "f:8 #2 ConfigMap b", "f:15 #3 ConfigMap c"}},
		{"byte order mark and CRLF", "\ufeff" + strings.ReplaceAll(object+"---\n"+strings.Replace(object, ": a", ": b", 1), "\n", "\r\n"),
			[]string{"f:1 #1 ConfigMap a", "f:6 #2 ConfigMap b"}},
		{"the end of a document", object + "...\n" + strings.Replace(object, ": a", ": b", 1), []string{"f:1 #1 ConfigMap a", "f:6 #2 ConfigMap b"}},
		{"a directive", "%YAML 1.1\n---\n" + object, []string{"f:3 #1 ConfigMap a"}},
		{"dashes in a text", object + "data:\n  x: |\n    ---\n    a\n", []string{"f:1 #1 ConfigMap a"}},
		{"the comments of helm", "---\n# Source: shop/templates/a.yaml\n" + object + "---\n" + strings.Replace(object, ": a", ": b", 1) + "---\n# Source: shop/templates/c.yaml\n---\n" + strings.Replace(object, ": a", ": c", 1),
			[]string{"f:3 (shop/templates/a.yaml) #1 ConfigMap a", "f:8 (shop/templates/a.yaml) #2 ConfigMap b", "f:15 (shop/templates/c.yaml) #3 ConfigMap c"}},
		{"JSON", "\n{\"apiVersion\": \"v1\",\n\"kind\": \"Secret\", \"metadata\": {\"name\": \"a\"}}\n\n{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"b\"}}",
			[]string{"f:2 #1 Secret a", "f:5 #2 Secret b"}},
		{"JSON after a comment, with tabs", "# a\n{\"apiVersion\": \"v1\",\n\t\"kind\": \"Secret\", \"metadata\": {\"name\": \"a\"}}", []string{"f:2 #1 Secret a"}},
		{"JSON that ends early", "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"a\"}}\n{\"apiVersion\": \"v1\",",
			[]string{"f:1 #1 Secret a", "f:2: this is not JSON: unexpected EOF"}},
		{"YAML in braces", "{apiVersion: v1, kind: Secret, metadata: {name: a}}", []string{"f:1 #1 Secret a"}},
		{"an array", "[{\"kind\": \"Secret\"}]", []string{"f:1: not a Kubernetes object but a list of JSON: write the objects one after the other, or as the items of a List"}},
		{"a List", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: a\n- metadata: {name: b}\n  apiVersion: v1\n  kind: Secret\nkind: List\n",
			[]string{"f:3 #1 Secret a", "f:7 #1 Secret b"}},
		{"a List with dashes in a text", "kind: List\napiVersion: v1\nitems:\n  - apiVersion: v1\n    kind: Secret\n    metadata: {name: a}\n    stringData:\n      a: >-\n        - b\n  -\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: b}\nmore:\n  - a\n",
			[]string{"f:4 #1 Secret a", "f:11 #1 Secret b"}},
		{"a List of JSON", object + "---\n{\"kind\": \"List\", \"apiVersion\": \"v1\", \"metadata\": {}, \"items\": [\n{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"a\"}},\n\n{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"b\"}}]}",
			[]string{"f:1 #1 ConfigMap a", "f:7 #2 Secret a", "f:9 #2 Secret b"}},
		{"a PodList without kinds", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n", []string{"f:4 #1 Pod a"}},
		{"a List without kinds", "apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n- 3\n", []string{"f:4: not a Kubernetes object: it has no kind", "f:5: List: items[1] is not a Kubernetes object but a number"}},
		{"a List in a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: SecretList\n  items: [{metadata: {name: a}}, {metadata: {name: b}}]\n", []string{"f:4 #1 Secret a", "f:4 #1 Secret b"}},
		{"an empty List", "apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\nitems:\n", nil},
		{"a kind that ends with List", "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\n", []string{"f:1 #1 AllowList a"}},
		{"no object", "a: 1\n---\napiVersion: v1\n---\nkind: Pod\n---\ntext\n---\n- a\n", []string{
			"f:1: not a Kubernetes object: it has no kind", "f:3: not a Kubernetes object: it has no kind", "f:5: not a Kubernetes object: it has no apiVersion",
			"f:7: not a Kubernetes object but a text", "f:9: not a Kubernetes object but a list"}},
		{"files of tools", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n---\napiVersion: skaffold/v4beta6\nkind: Config\n---\napiVersion: v1\nkind: Config\n---\napiVersion: v1\nkind: Secret\nsops: {mac: x}\n", []string{
			"f:1: not a Kubernetes object but a file of kustomize: render it with kustomize build", "f:4: not a Kubernetes object but a configuration of skaffold: render it with skaffold render",
			"f:7: not a Kubernetes object but a kubeconfig", "f:10: encrypted by SOPS: decrypt it with sops -d first"}},
		{"a template", "{{- if .Values.a }}\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\n---\nmetadata:\n  labels: {{ include \"a\" . }}\n{{- end }}\n", []string{"f:1: " + aTemplate}},
		{"a template that is YAML", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: '{{ .Release.Name }}'\n", []string{"f:1: Secret {{ .Release.Name }}: metadata.name \"{{ .Release.Name }}\" has characters that no name may have: " + aTemplate}},
		{"braces in a text", object + "data: {a: '{{ $labels.pod }} is down'}\n", []string{"f:1 #1 ConfigMap a"}},
		{"a syntax error", object + "---\na: b\nkind: [\n", []string{"f:1 #1 ConfigMap a", "f:7: this is not YAML: did not find expected node content"}},
		{"keys that are set twice", object + "data:\n  a: 1\n  b: 2\n  a: 3\nkind: ConfigMap\n", []string{"f:8: the key \"a\" is set twice", "f:9: the key \"kind\" is set twice"}},
		{"keys of JSON that are set twice", "{\"apiVersion\": \"v1\", \"apiVersion\": \"v1\"}", []string{"f:1: the key \"apiVersion\" is set twice"}},
		{"keys that are equal as texts", object + "data: {1: a, '1': b}\n", []string{"f:1: the key \"1\" is set twice"}},
		{"merge keys", "x: &x {a: b, c: d}\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {<<: *x, a: e}\n", []string{"f:1 #1 Secret a"}},
		{"merge keys beside one that is set twice", "x: &x {a: b}\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  <<: *x\n  e: e\n  e: f\n", []string{"f:8: the key \"e\" is set twice"}},
		{"an alias of itself", object + "data: &x {a: *x}\n", []string{"f:1: this is not YAML: anchor 'x' value contains itself"}},
		{"numbers that JSON has not", object + "data: {a: .inf}\n", []string{"f:1: unsupported value +Inf: JSON has no such number"}},
		{"deep", object + "data: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), []string{"f:1: nested more than 200 levels deep"}},
		{"deep JSON", "{\"a\": " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}", []string{"f:1: nested more than 200 levels deep"}},
		{"UTF-16", "\xff\xfea\x00", []string{"f:1: the text is UTF-16: save it as UTF-8"}},
		{"no text", "a\xff", []string{"f:1: this is no text in UTF-8"}},
		{"twice", object + "---\n" + object, []string{"f:6 #2 ConfigMap a"}},
		{"twice, but not alike", object + "---\n" + object + "  namespace: default\n---\n" + object + "data: {a: b}\n", []string{
			"f:12 #3 ConfigMap a", "f:1: ConfigMap a: stored twice; the one at f:12 is used", "f:6: ConfigMap a: stored twice; the one at f:12 is used"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lines(Read("f", []byte(c.text)))); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"kind: a/b\nmetadata: {name: a}", `a/b a: unsupported kind "a/b"`},
		{"kind: \"a\\e[31m\"\nmetadata: {name: a}", `a\x1b[31m a: unsupported kind "a\x1b[31m"`},
		{"kind: 3\nmetadata: {name: a}", `a: unsupported kind 3`},
		{"kind: A", `A: metadata is required`},
		{"kind: A\nmetadata: {}", `A: metadata.name is required`},
		{"kind: A\nmetadata: {generateName: a-}", `A: metadata.name is required: each kubectl create makes another object of metadata.generateName`},
		{"kind: A\nmetadata: {name: 1}", `A: metadata.name must be a string, not 1: put it in quotes`},
		{"kind: A\nmetadata: {name: yes}", `A: metadata.name must be a string, not true: put it in quotes`},
		{"kind: A\nmetadata: {name: \"a\\u202eb\"}", `A a\u202eb: metadata.name "a\u202eb" has characters that no name may have`},
		{"kind: A\nmetadata: {name: a/b}", `A a/b: metadata.name "a/b" may not contain '/'`},
		{"kind: A\nmetadata: {name: " + strings.Repeat("a", 254) + "}", `A ` + strings.Repeat("a", 80) + `"...: metadata.name must be at most 253 characters`},
		{"kind: A\nmetadata: {name: a, namespace: A_b}", `A a: unsupported namespace "A_b"`},
		{"kind: A\nmetadata: {name: a, labels: {b: on}, annotations: []}", `A a: metadata.labels["b"] must be a string, not true: put it in quotes; A a: metadata.annotations must be an object, not a list`},
		{"kind: A\nmetadata: {name: 'system:a'}", ""},
		{"kind: A\nmetadata: {name: a}\nb: " + strings.Repeat("a", 4e6), "A a: it has 4 MB, and API servers take at most 3 MB"},
	} {
		objects, problems := Read("f", []byte("apiVersion: v1\n"+c.text))
		var whys []string
		for _, p := range problems {
			whys = append(whys, strings.TrimPrefix(p.Error(), "f:1: "))
		}
		if got := strings.Join(whys, "; "); got != c.want || (len(objects) == 0) != (c.want != "") {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
	if _, problems := Read("f", []byte("apiVersion: a/b/c\nkind: A\nmetadata: {name: a}")); len(problems) != 1 {
		t.Errorf("a/b/c: problems %v, want one", problems)
	}
}

// TestValues: values are those of kubectl, which has YAML 1.1 and numbers of JSON.
func TestValues(t *testing.T) {
	t.Parallel()
	objects, problems := Read("f", []byte(object+`data:
  bool: [yes, On, n, true, "yes"]
  int: [1, 010, 0o10, 0x10, 1_000, 1.0, 9223372036854775807, 1e3, -0.0]
  float: [1.5, 18446744073709551615, 1e21]
  text: [1:2:x, 2026-01-02, !!str 1, "1"]
  none: [~, null]
  true: {1.5: a, 2: b}
`))
	if len(objects) != 1 || len(problems) > 0 {
		t.Fatalf("objects %v, problems %v", objects, problems)
	}
	want := map[string]any{
		"bool":  []any{true, true, false, true, "yes"},
		"int":   []any{int64(1), int64(8), int64(8), int64(16), int64(1000), int64(1), int64(9223372036854775807), int64(1000), int64(0)},
		"float": []any{1.5, 18446744073709551615., 1e21},
		"text":  []any{"1:2:x", "2026-01-02", "1", "1"},
		"none":  []any{nil, nil},
		"true":  map[string]any{"1.5": "a", "2": "b"},
	}
	if diff := cmp.Diff(want, objects[0].Object["data"]); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// TestAliasesAreBounded: a text that stands for a thousand times its length is refused.
func TestAliasesAreBounded(t *testing.T) {
	t.Parallel()
	long := object + "x: &x " + strings.Repeat("x", 100_000) + "\ny: &y [" + strings.Repeat("*x, ", 100) + "]\nz: [" + strings.Repeat("*y, ", 100) + "]\n"
	_, problems := Read("f", []byte(long))
	if len(problems) != 1 || problems[0].Why != errExpanded.Error() {
		t.Errorf("problems %v, want one", problems)
	}
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Join(slices.Repeat([]string{"*" + string(c-1)}, 9), ", "))
	}
	if _, problems := Read("f", []byte(bomb)); len(problems) != 1 || !strings.Contains(problems[0].Why, "excessive aliasing") {
		t.Errorf("problems %v, want one", problems)
	}
}

// TestManyAreBounded: neither documents nor problems fill the memory.
func TestManyAreBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("{}\n", maxDocuments+10), strings.Repeat("---\na\n", maxDocuments+10)} {
		_, problems := Read("f", []byte(text))
		if len(problems) != maxProblems+2 || problems[maxProblems].Line < maxProblems || !strings.Contains(problems[maxProblems+1].Why, "more than 100000 documents") {
			t.Errorf("%d problems, the last ones %v", len(problems), problems[max(0, len(problems)-2):])
		}
	}
}
