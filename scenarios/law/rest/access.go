package rest

import (
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// nodeAuthorization is the document of what kubelets may read.
const nodeAuthorization = "kubernetes/website, docs/reference/access-authn-authz/node.md"

var keepsSecret = Law{
	Breach:     "a node may read it, and no pod there refers to it",
	Class:      "access or secret",
	Components: []string{record.APIServer},
	Statement:  "A kubelet may read the Secrets and ConfigMaps that pods of its node refer to, and no others.",
	Source:     nodeAuthorization,
	faulty:     true,
	judge: func(s *State, report reporter) {
		s.access(func(v *timeline.Version, node string, named, _, allowed bool) {
			if allowed && !named && len(s.all("persistentvolumes")) == 0 { // a volume may refer to a Secret, too
				report(v, "the kubelet of %s may read it", node)
			}
		})
	},
}

var readsNeeded = Law{
	Breach:     "a node may not read it, and a pod there refers to it",
	Class:      "pod or container never created",
	Components: []string{record.APIServer},
	Statement:  "A kubelet may read the Secrets and ConfigMaps that pods of its node refer to.",
	Source:     nodeAuthorization,
	judge: func(s *State, report reporter) {
		s.access(func(v *timeline.Version, node string, _, needed, allowed bool) {
			if needed && !allowed {
				report(v, "the kubelet of %s may not read it", node)
			}
		})
	},
}

// access calls a function for each Secret and ConfigMap and each node: whether a pod of the node refers to it, whether one that runs
// does, and whether the kubelet of the node may read it.
func (s *State) access(each func(v *timeline.Version, node string, named, needed, allowed bool)) {
	needs := make(map[string]map[string]bool) // by node and key; true if by a pod that runs
	for _, node := range s.all("nodes") {
		needs[node.Name] = make(map[string]bool)
	}
	for _, p := range s.all("pods") {
		if needed := needs[p.Pod().Spec.NodeName]; needed != nil {
			refers(p.Fields()["spec"], "", func(resource, name string) {
				key := resource + "/" + p.Namespace + "/" + name
				needed[key] = needed[key] || (pod{p}).active()
			})
		}
	}
	for _, resource := range []string{"configmaps", "secrets"} {
		for _, v := range s.all(resource) {
			for _, node := range slices.Sorted(maps.Keys(needs)) {
				if readable, asked := s.Readable[node]; asked {
					needed, named := needs[node][v.Key]
					each(v, node, named, needed, slices.Contains(readable, v.Key))
				}
			}
		}
	}
}

// refers calls a function for each Secret and ConfigMap that something below a field of a pod names.
func refers(of any, field string, report func(resource, name string)) {
	switch of := of.(type) {
	case []any:
		for _, below := range of {
			refers(below, field, report)
		}
	case map[string]any:
		if name, is := of["secretName"].(string); is {
			report("secrets", name)
		}
		if name, is := of["name"].(string); is && field != "" {
			report(field, name)
		}
		for name, below := range of {
			refers(below, resourceIn(name), report)
		}
	}
}

// resourceIn is the resource of the objects to which a field of a pod refers by their name.
func resourceIn(field string) string {
	switch {
	case field == "imagePullSecrets", strings.HasPrefix(field, "secret") && field != "secretName", strings.HasSuffix(field, "SecretRef"):
		return "secrets"
	case strings.HasPrefix(field, "configMap"):
		return "configmaps"
	}
	return ""
}

var readsAsWatched = Law{
	Breach:     "it is read otherwise than it is watched",
	Class:      "wrong field or answer",
	Components: []string{record.APIServer},
	Statement:  "An object at a resource version is the same for who reads it and for who watches it.",
	Source:     "kubernetes/website, docs/reference/using-api/api-concepts.md, Efficient detection of changes",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, d := range s.Differing {
			if v := s.byKey[d.Object]; v != nil {
				report(v, "%s", strings.Join(d.Fields, ", "))
			}
		}
	},
}
