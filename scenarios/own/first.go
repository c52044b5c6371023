package own

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

//go:embed template
var templates embed.FS

// First returns the files of a new catalog, by their paths: the file skewrig.yaml, the
// manifest of a pod, a scenario that upgrades the node of that pod, and its control. The
// pod is that of a manifest, or of the template in it. If that is unset, it is a sample.
func First(manifest []byte) (map[string][]byte, error) {
	config, err := templates.ReadFile("template/" + File)
	if err != nil {
		return nil, err
	}
	if manifest == nil {
		if manifest, err = templates.ReadFile("template/pod.yaml"); err != nil {
			return nil, err
		}
	}
	pod, err := podOf(manifest)
	if err != nil {
		return nil, err
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
	Images, Broken []imageOf
	// Control is the container that must be restarted then. If unset, a probe would not
	// notice.
	Control *container
	// Gates are those that guard fields of the pod.
	Gates []string
}

// On turns the gates on, as it is written.
func (f *first) On() string { return "{" + strings.Join(f.Gates, ": true, ") + ": true}" }

// Off names the gates, as it is written.
func (f *first) Off() string { return "[" + strings.Join(f.Gates, ", ") + "]" }

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

// imageOf is an entry of images, as it is written, and the container that it is of.
type imageOf struct {
	Image  string
	Listen []listener
	of     corev1.Container
}

type listener struct {
	Port     int32
	Protocol behavior.Protocol
	Phases   string
}

// becomesUnhealthy is what the server of the control does.
const becomesUnhealthy = "[{for: 10s}, {fault: reset}]"

func (f *first) fill(name string) ([]byte, error) { return fill(name, f) }

// fill fills a template with what its scenario says.
func fill(name string, with any) ([]byte, error) {
	all, err := template.ParseFS(templates, "template/*.tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = all.ExecuteTemplate(&b, name, with)
	return b.Bytes(), err
}

// severalDocuments reports whether a file of YAML has more than one document that says
// something.
func severalDocuments(file []byte) bool {
	count := 0
	for _, document := range regexp.MustCompile(`(?m)^---(\s|$)`).Split(string(file), -1) {
		var content any
		if err := yaml.Unmarshal([]byte(document), &content); err != nil || content != nil {
			count++
		}
	}
	return count > 1
}

// podOf is the manifest of the pod that a manifest has: itself, or the template of a
// workload, by the name of that.
func podOf(manifest []byte) ([]byte, error) {
	if severalDocuments(manifest) {
		return nil, errors.New("this is not the manifest of one Pod or Deployment: the file has another document")
	}
	var workload struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   metav1.ObjectMeta `json:"metadata"`
		Spec       struct {
			Template map[string]any `json:"template"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(manifest, &workload); err != nil || workload.APIVersion != "apps/v1" || workload.Spec.Template == nil {
		return manifest, nil //nolint:nilerr // describe says what is wrong with it
	}
	pod := workload.Spec.Template
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	metadata, _ := pod["metadata"].(map[string]any)
	if metadata == nil {
		metadata = make(map[string]any)
	}
	metadata["name"], pod["metadata"] = workload.Metadata.Name, metadata
	if workload.Metadata.Namespace != "" {
		metadata["namespace"] = workload.Metadata.Namespace
	}
	text, err := yaml.Marshal(pod)
	return fmt.Appendf(nil, "# The template of %s %s.\n%s", workload.Kind, workload.Metadata.Name, text), err
}

// gatesOf are the gates that guard fields of a pod. An API server drops a field whose gate
// is off.
func gatesOf(manifest []byte) (gates []string, err error) {
	var pod map[string]any
	fields, fieldsErr := ledger.Fields()
	if err := errors.Join(fieldsErr, yaml.Unmarshal(manifest, &pod)); err != nil {
		return nil, err
	}
	for _, f := range fields {
		if len(f.In("pods", pod)) > 0 {
			gates = append(gates, f.Gate)
		}
	}
	slices.Sort(gates)
	return slices.Compact(gates), nil
}

// describe reads the manifest of a pod.
func describe(manifest []byte) (*first, error) {
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(manifest, &pod); err != nil {
		return nil, fmt.Errorf("this is not the manifest of one Pod: %w", err)
	}
	if pod.APIVersion != "v1" || pod.Kind != "Pod" {
		return nil, fmt.Errorf("the manifest is of kind %q of %q: give that of a Pod or a Deployment; skewrig docs own-catalog shows scenarios for other kinds", pod.Kind, pod.APIVersion)
	}
	if problems := validation.IsDNS1123Label(pod.Name); len(problems) > 0 {
		return nil, fmt.Errorf("metadata.name %q can't name the scenarios of the pod: %s", pod.Name, strings.Join(problems, "; "))
	}
	gates, err := gatesOf(manifest)
	if err != nil {
		return nil, err
	}
	f := &first{Name: pod.Name, Group: "mine/" + pod.Name, File: "pods/" + pod.Name + ".yaml", Gates: gates}
	if policy := pod.Spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
		return nil, fmt.Errorf("restartPolicy %s: the scenarios ask whether containers restart, so it has to be Always", policy)
	}
	key := pod.Name
	if pod.Namespace != "" && pod.Namespace != corev1.NamespaceDefault {
		key = pod.Namespace + "/" + pod.Name
	}
	played, err := image.NewCatalog(agnhost.Entries()...)
	if err != nil {
		return nil, err
	}
	probes := timeline.Probes(&pod.Spec)
	for _, c := range pod.Spec.Containers {
		if problems := validation.IsDNS1123Label(c.Name); len(problems) > 0 {
			return nil, fmt.Errorf("the name %q of a container: %s", c.Name, strings.Join(problems, "; "))
		}
		if _, err := played.Find(c.Image); err != nil && !errors.Is(err, image.ErrUnknown) {
			return nil, fmt.Errorf("container %s: image %q: %w", c.Name, c.Image, err)
		} else if err := f.add(key, c, probes, err == nil); err != nil {
			return nil, err
		}
	}
	if len(f.Containers) == 0 {
		return nil, fmt.Errorf("pod %s has no containers", pod.Name)
	}
	return f, nil
}

// add adds a container of the pod that expressions know by a key. A server stands for its
// image, unless that is played.
func (f *first) add(pod string, c corev1.Container, probes []timeline.Probe, played bool) error {
	key := strconv.Quote(pod + "/" + c.Name)
	added := container{Name: c.Name, Observed: "containers[" + key + "]", Wire: "connections[" + key + "]", Watched: shortest}
	timing := map[string]*corev1.Probe{"liveness": c.LivenessProbe, "readiness": c.ReadinessProbe, "startup": c.StartupProbe}
	var own, broken imageOf
	for _, p := range probes {
		if p.Container != c.Name || p.Hook || p.Kind == "" || p.Port == 0 && p.Kind != timeline.GRPC {
			continue // it connects to nothing
		}
		added.Probed, added.Watched = true, max(added.Watched, noticed(timing[p.Name]))
		l := listener{Port: p.Port, Protocol: protocolOf(p)}
		own.listen(l)
		if p.Name == "liveness" && l.Protocol != behavior.TCP && f.Control == nil && !played {
			f.Control = &added
			l.Phases = becomesUnhealthy
		}
		broken.listen(l)
	}
	for _, p := range c.Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			own.listen(listener{Port: p.ContainerPort, Protocol: behavior.TCP})
			broken.listen(listener{Port: p.ContainerPort, Protocol: behavior.TCP})
		}
	}
	added.Within = added.Watched + time.Minute
	f.Containers = append(f.Containers, added)
	if played {
		return nil
	}
	own.Image, broken.Image = strconv.Quote(c.Image), strconv.Quote(c.Image)
	own.of = c
	i := slices.IndexFunc(f.Images, func(m imageOf) bool { return stands(m.of.Image, c.Image) || stands(c.Image, m.of.Image) })
	switch {
	case i < 0:
		f.Images, f.Broken = append(f.Images, own), append(f.Broken, broken)
	case len(f.Images[i].Listen)+len(own.Listen) > 0:
		return fmt.Errorf("containers %s and %s are of one image, %s: the server of each would open the ports of both; give each a tag of its own", f.Images[i].of.Name, c.Name, c.Image)
	}
	return nil
}

// stands reports whether a pattern of images stands for an image: without a tag, for every
// one of that name.
func stands(pattern, ref string) bool {
	catalog, err := image.NewCatalog(image.Entry{Pattern: pattern})
	if err != nil {
		return pattern == ref
	}
	_, err = catalog.Find(ref)
	return err == nil
}

// listen adds a port. Of two that are the same, the first counts.
func (i *imageOf) listen(l listener) {
	if !slices.ContainsFunc(i.Listen, func(has listener) bool { return has.Port == l.Port }) {
		i.Listen = append(i.Listen, l)
	}
}

// protocolOf is what a container speaks if a probe is right about it.
func protocolOf(p timeline.Probe) behavior.Protocol {
	switch get, grpc := p.Handler.HTTPGet, p.Handler.GRPC; {
	case p.Kind == timeline.HTTPGet && get.Scheme == corev1.URISchemeHTTPS:
		return behavior.HTTPS
	case p.Kind == timeline.HTTPGet && get.Protocol != nil && *get.Protocol == corev1.HTTPProtocolHTTP2:
		return behavior.H2CAndHTTP1
	case p.Kind == timeline.HTTPGet:
		return behavior.HTTP1
	case p.Kind == timeline.GRPC && grpc.Mode != nil && *grpc.Mode == corev1.GRPCProbeModeTLS:
		return behavior.GRPCTLS
	case p.Kind == timeline.GRPC:
		return behavior.GRPC
	default:
		return behavior.TCP
	}
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
