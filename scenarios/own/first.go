package own

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

//go:embed template
var templates embed.FS

// First returns the files of a new catalog, by their paths: the file skewrig.yaml, the
// manifest of a pod, a scenario that upgrades the node of that pod, and its control. If
// pod is unset, it is a sample.
func First(pod []byte) (map[string][]byte, error) {
	config, err := templates.ReadFile("template/" + File)
	if err != nil {
		return nil, err
	}
	if pod == nil {
		if pod, err = templates.ReadFile("template/pod.yaml"); err != nil {
			return nil, err
		}
	}
	about, err := describe(pod)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{File: config, path.Join("scenarios", about.File): pod}
	if files["scenarios/"+about.Name+".yaml"], err = about.fill("upgrade.yaml.tmpl"); err != nil {
		return nil, err
	}
	if about.Control != nil {
		files["scenarios/"+about.Name+"-control.yaml"], err = about.fill("control.yaml.tmpl")
	}
	return files, err
}

// first is what the first scenarios of a catalog say of a pod.
type first struct {
	// Name is the pod's, Group what the ids of the scenarios begin with, and File its
	// manifest, from the scenarios.
	Name, Group, File string
	Containers        []container
	// Images are what the images stand for, and Broken the same with a server that
	// becomes unhealthy.
	Images, Broken []image
	// Control is the container that must be restarted then. If unset, a probe would not
	// notice.
	Control *container
}

type container struct {
	Name string
	// Observed and Wire are the container, and the connections to it, in expressions.
	Observed, Wire string
	// Probed is true if probes connect to it.
	Probed bool
	// Watched is how long a container that is not restarted in the meantime is well, and
	// Within is enough time for what must happen.
	Watched, Within time.Duration
}

// image is an entry of images, as it is written.
type image struct {
	Image  string
	Listen []listener
}

type listener struct {
	Port     int32
	Protocol behavior.Protocol
	Phases   string
}

// becomesUnhealthy is what the server of the control does.
const becomesUnhealthy = "[{for: 10s}, {fault: reset}]"

func (f *first) fill(name string) ([]byte, error) {
	all, err := template.ParseFS(templates, "template/*.tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = all.ExecuteTemplate(&b, name, f)
	return b.Bytes(), err
}

// describe reads the manifest of a pod.
func describe(manifest []byte) (*first, error) {
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(manifest, &pod); err != nil {
		return nil, fmt.Errorf("this is not the manifest of one Pod: %w", err)
	}
	if pod.APIVersion != "v1" || pod.Kind != "Pod" {
		return nil, fmt.Errorf("the manifest is of kind %q of %q: give that of a Pod; skewrig docs own-catalog shows scenarios for other kinds", pod.Kind, pod.APIVersion)
	}
	if problems := validation.IsDNS1123Label(pod.Name); len(problems) > 0 {
		return nil, fmt.Errorf("metadata.name %q can't name the scenarios of the pod: %s", pod.Name, strings.Join(problems, "; "))
	}
	f := &first{Name: pod.Name, Group: "mine/" + pod.Name, File: "pods/" + pod.Name + ".yaml"}
	key := pod.Name
	if pod.Namespace != "" && pod.Namespace != corev1.NamespaceDefault {
		key = pod.Namespace + "/" + pod.Name
	}
	for _, c := range pod.Spec.Containers {
		f.add(key, c)
	}
	if len(f.Containers) == 0 {
		return nil, fmt.Errorf("pod %s has no containers", pod.Name)
	}
	return f, nil
}

// add adds a container of the pod that expressions know by a key.
func (f *first) add(pod string, c corev1.Container) {
	key := strconv.Quote(pod + "/" + c.Name)
	added := container{Name: c.Name, Observed: "containers[" + key + "]", Wire: "connections[" + key + "]", Watched: shortest}
	probes := []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe}
	var listen []listener
	for _, p := range probes {
		if l, is := listenerOf(c, p); is {
			added.Probed, added.Watched = true, max(added.Watched, noticed(p))
			listen = append(listen, l)
		}
	}
	for _, p := range c.Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			listen = append(listen, listener{Port: p.ContainerPort, Protocol: behavior.TCP})
		}
	}
	added.Within = added.Watched + time.Minute
	f.Containers = append(f.Containers, added)
	if isPlayed(c.Image) {
		return
	}
	f.Images = merge(f.Images, c.Image, listen)
	alive, probed := listenerOf(c, c.LivenessProbe)
	if f.Control == nil && probed && alive.Protocol != behavior.TCP {
		f.Control = &added
		alive.Phases = becomesUnhealthy
		listen = append([]listener{alive}, listen...)
	}
	f.Broken = merge(f.Broken, c.Image, listen)
}

// merge adds what an image listens on. Of two that have one port, the first counts.
func merge(images []image, name string, listen []listener) []image {
	quoted := strconv.Quote(name)
	i := slices.IndexFunc(images, func(m image) bool { return m.Image == quoted })
	if i < 0 {
		i, images = len(images), append(images, image{Image: quoted})
	}
	for _, l := range listen {
		if !slices.ContainsFunc(images[i].Listen, func(has listener) bool { return has.Port == l.Port }) {
			images[i].Listen = append(images[i].Listen, l)
		}
	}
	return images
}

// isPlayed reports whether skewrig plays an image without being told how.
func isPlayed(image string) bool {
	return strings.HasPrefix(image, "registry.k8s.io/pause") || strings.HasPrefix(image, "registry.k8s.io/e2e-test-images/agnhost")
}

// listenerOf is what a container listens on if a probe is right about it. There is none
// if the probe connects to nothing.
func listenerOf(c corev1.Container, p *corev1.Probe) (listener, bool) {
	switch {
	case p == nil:
		return listener{}, false
	case p.HTTPGet != nil:
		l := listener{Port: portOf(c, p.HTTPGet.Port), Protocol: behavior.HTTP1}
		if p.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			l.Protocol = behavior.HTTPS
		} else if p.HTTPGet.Protocol != nil && *p.HTTPGet.Protocol == corev1.HTTPProtocolHTTP2 {
			l.Protocol = behavior.H2CAndHTTP1
		}
		return l, l.Port > 0
	case p.GRPC != nil:
		l := listener{Port: p.GRPC.Port, Protocol: behavior.GRPC}
		if p.GRPC.Mode != nil && *p.GRPC.Mode == corev1.GRPCProbeModeTLS {
			l.Protocol = behavior.GRPCTLS
		}
		return l, true
	case p.TCPSocket != nil:
		l := listener{Port: portOf(c, p.TCPSocket.Port), Protocol: behavior.TCP}
		return l, l.Port > 0
	default:
		return listener{}, false
	}
}

// portOf is the number of a port. It is 0 for a name that the container doesn't have.
func portOf(c corev1.Container, port intstr.IntOrString) int32 {
	if port.Type == intstr.Int {
		return port.IntVal
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort
		}
	}
	return 0
}

// shortest is how long a container is watched at least.
const shortest = 20 * time.Second

// noticed is how long it takes at most until a kubelet acts on a probe that fails, with
// the defaults of Kubernetes, and two periods to spare.
func noticed(p *corev1.Probe) time.Duration {
	orDefault := func(n, unset int32) time.Duration {
		if n == 0 {
			n = unset
		}
		return time.Duration(n) * time.Second
	}
	tries := max(p.FailureThreshold, 3) + 2
	return orDefault(p.InitialDelaySeconds, 0) + time.Duration(tries)*(orDefault(p.PeriodSeconds, 10)+orDefault(p.TimeoutSeconds, 1))
}
