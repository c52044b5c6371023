package own

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// starters are the first scenarios of a KEP, and what each shows.
var starters = []ledger.Starter{
	{
		Name: "gate", PRR: "Can the feature be disabled once it has been enabled (i.e. can we roll back the enablement)?",
		Statement: "An object that uses the feature keeps what it says while the gate is turned off, is written then, and when it is on again.",
	},
	{
		Name: "upgrade", PRR: "Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path tested?",
		Statement: "An object that uses the feature keeps what it says through an upgrade, a rollback in which it is written, and another upgrade.",
	},
	{
		Name: "skew", PRR: "How can a rollout or rollback fail? Can it impact already running workloads?",
		Statement: "An object that uses the feature keeps what it says above nodes of the release before.",
	},
	{
		Name: "half-upgraded", PRR: "How can a rollout or rollback fail? Can it impact already running workloads?",
		Statement: "An object that uses the feature keeps what it says while one API server is of the release before, and it is written through that one.",
	},
	{
		Name: "as-before", PRR: "Does enabling the feature change any default behavior?",
		Statement: "With the gate off, a control plane does with the object what the release before does.",
	},
}

// scaffold is what the first scenarios of a KEP say.
type scaffold struct {
	KEP  ledger.KEP
	Area string // kep-1234
	Gate string
	// File is the object's manifest, from the scenarios, Object its reference, and Key the same
	// in expressions.
	File, Object, Key string
	// Kept is the part of an object that must stay as it was written.
	Kept string
	// Ready is a condition that holds once the object is at work, with the gate on. If unset, there
	// is none.
	Ready string
	// Images are what its images stand for.
	Images []imageOf
	// Kubelets is true if nodes take part.
	Kubelets bool
}

// On turns the gate on, as it is written, and Off turns it off.
func (s *scaffold) On() string  { return "{" + s.Gate + ": true}" }
func (s *scaffold) Off() string { return "{" + s.Gate + ": false}" }

// Scaffold returns the files of a first catalog for a KEP, by their paths: the file skewrig.yaml,
// a ledger, the manifest of an object that uses the feature, and scenarios around it. If the
// manifest is unset, the object is a sample pod, which does not use it.
func Scaffold(readme, gate string, manifest []byte) (map[string][]byte, error) {
	kep, err := ledger.ReadKEP(readme)
	if err != nil {
		return nil, err
	}
	if err := release.CheckGate(release.Effective{Version: release.Newest}, gate); err != nil {
		return nil, err
	}
	if manifest == nil {
		if manifest, err = templates.ReadFile("template/pod.yaml"); err != nil {
			return nil, err
		}
	}
	s, err := scaffoldOf(kep, gate, manifest)
	if err != nil {
		return nil, err
	}
	config, err := templates.ReadFile("template/kep-" + File)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		File: config, path.Join("scenarios", s.File): manifest,
		"ledgers/" + s.Area + ".yaml": []byte(ledger.Skeleton(kep, starters)),
	}
	for _, starter := range starters {
		text, err := fill("kep-"+starter.Name+".yaml.tmpl", s)
		if err != nil {
			return nil, err
		}
		files["scenarios/"+s.Area+"-"+starter.Name+".yaml"] = text
	}
	return files, nil
}

func scaffoldOf(kep ledger.KEP, gate string, manifest []byte) (*scaffold, error) {
	var object struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
	}
	if severalDocuments(manifest) {
		return nil, errors.New("this is not the manifest of one object: the file has another document")
	}
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return nil, fmt.Errorf("this is not the manifest of an object: %w", err)
	}
	if problems := validation.IsDNS1123Subdomain(object.Metadata.Name); object.Kind == "" || len(problems) > 0 {
		return nil, fmt.Errorf("this is not the manifest of an object: kind %q, metadata.name %q", object.Kind, object.Metadata.Name)
	}
	namespace := cmp.Or(object.Metadata.Namespace, metav1.NamespaceDefault)
	key := fmt.Sprintf("%s/%s/%s", kube.Resource(object.Kind), namespace, object.Metadata.Name)
	s := &scaffold{
		KEP: kep, Area: strings.ToLower(kep.ID()), Gate: gate, File: "objects/" + object.Metadata.Name + ".yaml",
		Object: key, Key: strconv.Quote(key), Kept: "spec",
	}
	here := "objects[" + s.Key + "]"
	switch object.Kind {
	case "Pod":
		s.Kept = "spec.containers"
		s.Ready = here + `.status.conditions.exists(c, c.type == "Ready" && c.status == "True")`
	case "Deployment", "StatefulSet", "ReplicaSet":
		s.Ready = "has(" + here + ".status.readyReplicas) && " + here + ".status.readyReplicas == " + here + ".spec.replicas"
	}
	pod, err := podOf(manifest)
	if err != nil {
		return nil, err
	}
	var typed corev1.Pod
	if err := yaml.Unmarshal(pod, &typed); err != nil || typed.Kind != "Pod" {
		return s, nil //nolint:nilerr // an object of another kind has no pods
	}
	about, err := describe(pod)
	if err != nil {
		return nil, err
	}
	s.Images, s.Kubelets = about.Images, true
	for _, i := range s.Images {
		for n, l := range i.Listen {
			if l.Protocol == behavior.GRPCTLS {
				i.Listen[n].Protocol = behavior.GRPCAndTLS // the field may be lost, and the probe plain
			}
		}
	}
	return s, nil
}
