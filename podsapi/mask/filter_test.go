package mask

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/skewrig/skewrig/podsapi/internal/samples"
)

func TestFilterKeepsWhatIsNamed(t *testing.T) {
	t.Parallel()
	pod := samples.Pod(7)
	got := filtered(t, "metadata.name,spec.containers.name,spec.containers.ports.containerPort,status.phase", pod)
	want := &corev1.Pod{}
	want.Name = pod.Name
	want.Spec.Containers = []corev1.Container{
		{Name: "web", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}},
		{Name: "proxy", Ports: []corev1.ContainerPort{{ContainerPort: 9090}}},
	}
	want.Status.Phase = corev1.PodRunning
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFilterKeepsMessagesOnTheWay(t *testing.T) {
	t.Parallel()
	got := filtered(t, "spec.containers.livenessProbe.handler.exec,spec.containers.lifecycle.preStop", samples.Pod(7))
	if len(got.Spec.Containers) != 2 {
		t.Fatalf("%d containers, want 2", len(got.Spec.Containers))
	}
	for _, c := range got.Spec.Containers {
		if c.LivenessProbe == nil || c.LivenessProbe.Exec != nil || c.Lifecycle != nil {
			t.Errorf("container %+v, want one with an empty probe and no lifecycle", c)
		}
	}
}

func TestFilterAppends(t *testing.T) {
	t.Parallel()
	wire := marshal(t, samples.Pod(1))
	for _, text := range []string{"*", "metadata.name", "spec"} {
		mask := mustParse(t, text)
		alone, err := mask.Filter(nil, wire)
		if err != nil {
			t.Fatal(err)
		}
		after, err := mask.Filter([]byte("before"), wire)
		if err != nil || !bytes.Equal(after, append([]byte("before"), alone...)) {
			t.Errorf("mask %s: what is appended to something differs, error %v", text, err)
		}
	}
}

// Masks of random paths, on pods of random content, against a reference that
// works on the Go structs.
func TestFilterAgreesWithReflection(t *testing.T) {
	t.Parallel()
	paths := allPaths(podMessage(), "")
	for seed := range int64(300) {
		random := rand.New(rand.NewSource(seed))
		wire := marshal(t, randomPod(seed))
		var chosen []string
		for range 1 + random.Intn(8) {
			chosen = append(chosen, paths[random.Intn(len(paths))])
		}
		compare(t, strings.Join(chosen, ","), wire)
	}
}

// Each path there is, on a pod that has something everywhere.
func TestFilterKnowsEveryPath(t *testing.T) {
	t.Parallel()
	wire := marshal(t, randomPod(1))
	for _, path := range allPaths(podMessage(), "") {
		compare(t, path, wire)
	}
}

// Fields of every length that has its own encoding.
func TestFilterOfLongFields(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 126, 127, 128, 129, 1 << 7, 1<<14 - 1, 1 << 14, 1<<14 + 1, 1 << 21} {
		pod := samples.Pod(1)
		pod.Annotations["long"] = strings.Repeat("x", length)
		pod.Status.Message = strings.Repeat("y", length)
		pod.Spec.Containers[1].Image = strings.Repeat("z", length)
		wire := marshal(t, pod)
		for _, text := range []string{
			"metadata.name", "status.message", "status.phase", "spec.containers.image", "spec.containers.name,metadata.annotations", "spec,status.podIP",
		} {
			compare(t, text, wire)
		}
	}
}

func compare(t *testing.T, text string, wire []byte) {
	t.Helper()
	var got, want corev1.Pod
	out, err := mustParse(t, text).Filter(nil, wire)
	if err != nil {
		t.Errorf("mask %s: %v", text, err)
		return
	}
	if err := got.Unmarshal(out); err != nil {
		t.Errorf("mask %s: %v", text, err)
		return
	}
	if err := want.Unmarshal(wire); err != nil {
		t.Fatal(err)
	}
	keepOnly(reflect.ValueOf(&want).Elem(), strings.Split(text, ","))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("mask %s: got\n%v\nwant\n%v", text, got, want)
	}
}

func TestFilterRefusesBrokenBytes(t *testing.T) {
	t.Parallel()
	message := func(number protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), body)
	}
	for name, wire := range map[string][]byte{
		"tag cut off":            {0x80},
		"length beyond the end":  {0x0a, 0x05, 0x01},
		"no field 0":             {0x02, 0x00},
		"inner tag cut off":      message(1, []byte{0x80}),
		"inner length too long":  message(1, []byte{0x0a, 0x7f}),
		"metadata is a number":   {0x08, 0x01},
		"end of no group":        {0x0c},
		"group without an end":   {0x0b},
		"number in a fixed32":    {0x0d, 1, 2},
		"varint without an end":  bytes.Repeat([]byte{0x88}, 20),
		"length of eleven bytes": append([]byte{0x0a}, bytes.Repeat([]byte{0xff}, 11)...),
	} {
		out, err := mustParse(t, "metadata.name").Filter([]byte("before"), wire)
		if err == nil || !strings.Contains(err.Error(), "filtering a pod: ") {
			t.Errorf("%s: error %v", name, err)
		}
		if string(out) != "before" {
			t.Errorf("%s: returned %q with the error", name, out)
		}
	}
}

func TestFilterOfEveryPrefixDoesNotPanic(t *testing.T) {
	t.Parallel()
	wire := marshal(t, samples.Pod(3))
	mask := mustParse(t, "metadata.name,spec.containers.env.valueFrom.fieldRef.fieldPath,status.containerStatuses.state")
	for n := range wire {
		_, _ = mask.Filter(nil, wire[:n])
	}
}

func FuzzFilter(f *testing.F) {
	for _, text := range []string{"metadata.name", "spec.containers.name,status.phase", "*", "metadata.labels,spec.volumes.volumeSource.hostPath"} {
		f.Add(text, marshal(f, samples.Pod(1)))
	}
	f.Add("spec.nodeName", []byte{0x12, 0x81, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, text string, wire []byte) {
		mask, err := Parse(text)
		if err != nil {
			return
		}
		out, err := mask.Filter(nil, wire)
		if err != nil {
			return
		}
		if len(out) > len(wire) {
			t.Errorf("%d bytes became %d", len(wire), len(out))
		}
		if again, err := mask.Filter(nil, out); err != nil || !bytes.Equal(again, out) {
			t.Errorf("filtered twice: %x, error %v, want %x", again, err, out)
		}
		if !mask.All() && new(corev1.Pod).Unmarshal(wire) == nil {
			compare(t, mask.String(), wire)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	var pods [][]byte
	for _, pod := range samples.Pods(500) {
		pods = append(pods, marshal(b, pod))
	}
	for _, text := range []string{"metadata.name,status.phase,spec.containers.name", "status", "*"} {
		b.Run(text, func(b *testing.B) {
			mask := mustParse(b, text)
			var buffer []byte
			for b.Loop() {
				buffer = buffer[:0]
				for _, pod := range pods {
					buffer, _ = mask.Filter(buffer, pod)
				}
			}
			b.ReportMetric(float64(len(buffer)), "B/list")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		_, _ = Parse("metadata.name,status.phase,spec.containers.name")
	}
}

// keepOnly zeroes the fields of a message that no path names: what a mask does,
// on the decoded message.
func keepOnly(message reflect.Value, paths []string) {
	inside := map[string][]string{}
	named := map[string]bool{}
	for _, path := range paths {
		first, rest, goesOn := strings.Cut(path, ".")
		if goesOn {
			inside[first] = append(inside[first], rest)
		} else {
			named[first] = true
		}
	}
	for i := range message.NumField() {
		_, name, _ := strings.Cut(message.Type().Field(i).Tag.Get("protobuf"), "name=")
		name, _, _ = strings.Cut(name, ",")
		if message.Type().Field(i).Name == "EphemeralContainerCommon" { // The only one whose tag has no name.
			name = "ephemeralContainerCommon"
		}
		switch field := message.Field(i); {
		case named[name]:
		case inside[name] == nil:
			field.SetZero()
		case field.Kind() == reflect.Slice:
			for j := range field.Len() {
				keepOnly(field.Index(j), inside[name])
			}
		case field.Kind() == reflect.Struct:
			keepOnly(field, inside[name])
		case !field.IsNil():
			keepOnly(field.Elem(), inside[name])
		}
	}
}

func allPaths(m *message, prefix string) []string {
	var paths []string
	for _, f := range m.fields {
		paths = append(paths, prefix+f.name)
		if f.kind == nested {
			paths = append(paths, allPaths(f.message, prefix+f.name+".")...)
		}
	}
	return paths
}

func randomPod(seed int64) *corev1.Pod {
	pod := &corev1.Pod{}
	randfill.NewWithSeed(seed).NilChance(.2).NumElements(1, 2).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1e6), resource.BinarySI)
		},
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1e9), 0) },
		func(at *metav1.MicroTime, c randfill.Continue) {
			*at = metav1.NewMicroTime(metav1.Unix(c.Int63n(1e9), 0).Time)
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Int31()) },
	).Fill(pod)
	return pod
}

func filtered(t *testing.T, text string, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	out, err := mustParse(t, text).Filter(nil, marshal(t, pod))
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.Pod{}
	if err := got.Unmarshal(out); err != nil {
		t.Fatal(err)
	}
	return got
}

func marshal(t testing.TB, pod *corev1.Pod) []byte {
	t.Helper()
	wire, err := pod.Marshal()
	if err != nil {
		t.Fatal(fmt.Errorf("marshalling pod %s: %w", pod.Name, err))
	}
	return wire
}
