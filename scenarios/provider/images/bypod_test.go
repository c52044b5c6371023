package images

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func podOf(t *testing.T, spec string) *corev1.Pod {
	t.Helper()
	pod := new(corev1.Pod)
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestAContainerListensOnWhatIsProbed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, container string
		want            map[int32]string
	}{
		{"nothing", `{name: a}`, map[int32]string{}},
		{"a port by its name", `{name: a, ports: [{name: http, containerPort: 80}, {name: dns, containerPort: 53, protocol: UDP}], readinessProbe: {httpGet: {port: http}}}`, map[int32]string{80: "http1+https"}},
		{"a port that is not declared", `{name: a, livenessProbe: {tcpSocket: {port: 5432}}}`, map[int32]string{5432: "tcp"}},
		{"two probes", `{name: a, startupProbe: {grpc: {port: 1, service: s}}, livenessProbe: {httpGet: {port: 2, scheme: HTTPS}}}`, map[int32]string{1: "grpc+grpc-tls", 2: "http1+https"}},
		{"a probe of another host", `{name: a, livenessProbe: {httpGet: {port: 2, host: 192.0.2.1}}}`, map[int32]string{}},
		{"a name that no port has", `{name: a, livenessProbe: {httpGet: {port: http}}}`, map[int32]string{}},
	} {
		pod := podOf(t, "{containers: ["+c.container+"]}")
		got := make(map[int32]string)
		for _, l := range Listening(pod.Spec.Containers[0]) {
			got[l.Port] = string(l.Protocol)
			if problems := l.Validate(); len(problems) > 0 {
				t.Errorf("%s: %v", c.name, problems)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func TestWhatCompletes(t *testing.T) {
	t.Parallel()
	const job = `{restartPolicy: Never, initContainers: [{name: proxy, restartPolicy: Always}], containers: [{name: main}]}`
	const server = `{restartPolicy: Always, initContainers: [{name: init}, {name: proxy, restartPolicy: Always}], containers: [{name: main}]}`
	for _, c := range []struct {
		pod, container string
		want           bool
	}{{job, "main", true}, {job, "proxy", false}, {server, "main", false}, {server, "init", true}, {server, "proxy", false}} {
		if found, completes := expected(podOf(t, c.pod), c.container); completes != c.want || found.Name != c.container {
			t.Errorf("%s of %s: %v, want %v", c.container, c.pod, completes, c.want)
		}
	}
}
