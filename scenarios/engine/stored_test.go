package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// inProtobuf is a pod as an API server stores it.
func inProtobuf(t *testing.T, pod corev1.Pod) []byte {
	t.Helper()
	raw, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(protobufMagic), envelope...)
}

func podWith(name string, probe *corev1.Probe) corev1.Pod {
	pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", LivenessProbe: probe}}}}
	pod.Name = name
	return pod
}

func TestStoredProtobuf(t *testing.T) {
	t.Parallel()
	service := "a\nb"
	value := inProtobuf(t, podWith("web", &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 8443, Service: &service}}}))
	got := stored(value)
	if got.Encoding != "protobuf" || got.APIVersion != "v1" || got.Kind != "Pod" || got.Bytes != len(value) {
		t.Errorf("got %+v", got)
	}
	values := make(map[string]record.StoredField)
	for _, f := range got.Fields {
		values[f.Path] = f
	}
	for path, want := range map[string]record.StoredField{
		"1.1":           {Wire: "bytes", Bytes: 5, Value: "web"},
		"2.2.1":         {Wire: "bytes", Bytes: 5, Value: "app"},
		"2.2.10.1.4":    {Wire: "bytes", Bytes: 10},
		"2.2.10.1.4.1":  {Wire: "varint", Bytes: 3, Value: int64(8443)},
		"2.2.10.1.4.2":  {Wire: "bytes", Bytes: 5, Value: service},
		"2.2.10.1.4.77": {}, // there is none
	} {
		if want.Wire != "" {
			want.Path = path
		}
		if diff := cmp.Diff(want, values[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestStoredOtherwise(t *testing.T) {
	t.Parallel()
	const text = `{"apiVersion":"example.org/v1","kind":"Widget","spec":{"size":3}}`
	none := []record.StoredField{}
	for value, want := range map[string]record.StoredRead{
		text:                   {Encoding: "json", APIVersion: "example.org/v1", Kind: "Widget", Bytes: len(text), Fields: none, Content: json.RawMessage(text)},
		"k8s:enc:aescbc:v1:x":  {Encoding: "unknown", Bytes: 19, Fields: none},
		protobufMagic + "\x0a": {Encoding: "unknown", Bytes: 5, Fields: none},
	} {
		if diff := cmp.Diff(want, stored([]byte(value))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

// TestStoredAmbiguity: without a schema, bytes are a text if they can be read as one,
// else a message, else bytes.
func TestStoredAmbiguity(t *testing.T) {
	t.Parallel()
	for content, want := range map[string][]record.StoredField{
		"hi":           {{Path: "1", Wire: "bytes", Bytes: 4, Value: "hi"}},
		"\x08\x01":     {{Path: "1", Wire: "bytes", Bytes: 4}, {Path: "1.1", Wire: "varint", Bytes: 2, Value: int64(1)}},
		"\x00\xff":     {{Path: "1", Wire: "bytes", Bytes: 4, Value: []byte("\x00\xff")}},
		"":             {{Path: "1", Wire: "bytes", Bytes: 2, Value: ""}},
		"\x0a\x05abcd": {{Path: "1", Wire: "bytes", Bytes: 8, Value: []byte("\x0a\x05abcd")}}, // cut short
	} {
		got, is := fieldsOf("", append([]byte{0x0a, byte(len(content))}, content...))
		if diff := cmp.Diff(want, got); diff != "" || !is {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
	}
}

func TestStoredKeys(t *testing.T) {
	t.Parallel()
	for ref, want := range map[spec.ObjectRef][]string{
		{Resource: "pods", Namespace: "default", Name: "web"}: {"/registry/pods/default/web", "/registry/pods/default/web"},
		{Resource: "nodes", Name: "node-a"}:                   {"/registry/minions/node-a", "/registry/nodes/node-a"},
	} {
		if diff := cmp.Diff(want, keys(schema.GroupResource{Resource: ref.Resource}, ref)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	widgets := keys(schema.GroupResource{Group: "example.org", Resource: "widgets"}, spec.ObjectRef{Resource: "widgets", Namespace: "a", Name: "b"})
	if want := "/registry/example.org/widgets/a/b"; widgets[1] != want {
		t.Errorf("got %q, want %s", widgets, want)
	}
}
