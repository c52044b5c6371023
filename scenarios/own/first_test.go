package own

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

// TestFirst holds the files of a new catalog against testdata: those of the sample, and
// of a pod with each kind of probe. They are a catalog.
func TestFirst(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{"sample": "", "probes": probes, "exec": exec, "shop": deployment} {
		var pod []byte
		if manifest != "" {
			pod = []byte(manifest)
		}
		files, err := First(pod)
		if err != nil {
			t.Fatal(err)
		}
		texts := make(map[string]string)
		for path, text := range files {
			texts[path] = string(text)
			if strings.HasPrefix(path, "scenarios/") && filepath.Dir(path) == "scenarios" {
				golden.Check(t, filepath.Join("testdata", name, filepath.Base(path)), string(text))
			}
		}
		if pod := "scenarios/pods/shop.yaml"; name == "shop" {
			golden.Check(t, filepath.Join("testdata", name, "pod", "shop.yaml"), texts[pod])
		} else if manifest != "" && texts["scenarios/pods/"+name+".yaml"] != manifest {
			t.Errorf("the manifest is %q", texts["scenarios/pods/"+name+".yaml"])
		}
		c, err := Load(write(t, texts))
		if want := map[string]int{"sample": 2, "probes": 2, "exec": 1, "shop": 2}[name]; err != nil || len(c.Cells) != want {
			t.Errorf("%s: it has %d cells, want %d: %v", name, len(c.Cells), want, err)
		}
	}
}

const probes = `apiVersion: v1
kind: Pod
metadata: {name: probes, namespace: shop}
spec:
  containers:
  - name: tcp
    image: registry.example/tcp:1
    livenessProbe: {tcpSocket: {port: 6379}}
  - name: tls
    image: registry.example/tls@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    ports: [{name: web, containerPort: 8443}, {containerPort: 53, protocol: UDP}, {containerPort: 9100}]
    readinessProbe: {httpGet: {port: web, scheme: HTTPS}}
    livenessProbe: {grpc: {port: 5000, mode: TLS}, initialDelaySeconds: 30, periodSeconds: 20, failureThreshold: 5}
    startupProbe: {grpc: {port: 5000}}
  - name: again
    image: registry.example/tcp:2
    livenessProbe: {httpGet: {port: 80, protocol: HTTP2}}
  - name: played
    image: registry.k8s.io/e2e-test-images/agnhost:2.66.1
    args: [netexec]
    livenessProbe: {httpGet: {port: 8080}}
  - {name: shell, image: busybox, command: [sh, -c, sleep inf]}
  - {name: other, image: "registry.k8s.io/pause-controller:1"}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: app
        image: registry.example/shop
        livenessProbe: {grpc: {port: 8443, mode: TLS}, periodSeconds: 2}
`

const exec = `apiVersion: v1
kind: Pod
metadata: {name: exec}
spec:
  containers:
  - {name: app, image: registry.example/exec, livenessProbe: {exec: {command: ["true"]}}}
`

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {"

func TestWhatIsNoPod(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]string{
		"kind: [": "not the manifest of one Pod",
		"{apiVersion: apps/v1, kind: Deployment}":             `of kind "Deployment"`,
		"{apiVersion: v1, kind: Service}":                     `of kind "Service"`,
		"{apiVersion: v1, kind: Pod, metadata: {name: ../x}}": `"../x" can't name`,
		"{apiVersion: v1, kind: Pod, metadata: {name: x}}":    "no containers",
		"{apiVersion: v1, kind: Pod, spce: {}}":               "spce",

		pod + "containers: [{name: a, image: x, ports: [{containerPort: 1}]}, {name: b, image: x}]}":     "containers a and b are of one image, x",
		pod + "containers: [{name: a, image: x, ports: [{containerPort: 1}]}, {name: b, image: 'x:2'}]}": "containers a and b are of one image, x",
		pod + "containers: [{image: x}]}":                            `the name "" of a container`,
		pod + "containers: [{name: \"it's: a\", image: x}]}":         "of a container",
		pod + "containers: [{name: a}]}":                             `container a: image ""`,
		pod + "restartPolicy: Never, containers: [{name: a}]}":       "restartPolicy Never",
		pod + "containers: [{name: a, image: x}]}\n---\nkind: Pod\n": "another document",
	} {
		if _, err := First([]byte(manifest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
	}
}
