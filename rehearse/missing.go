package rehearse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// Missing returns mocks of what pods of objects refer to and the objects do not have: Secrets and ConfigMaps with the keys that
// are asked for, and ServiceAccounts. A cluster has them from others: an operator, a job, a person.
func Missing(objects []map[string]any) []map[string]any {
	m := missing{has: make(map[string]bool), wanted: make(map[string]map[string]bool)}
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		m.has[path.Join(fmt.Sprint(o["kind"]), namespaceOf(metadata), fmt.Sprint(metadata["name"]))] = true
	}
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		text, err := json.Marshal(kube.PodSpec(o))
		var spec corev1.PodSpec
		if err == nil && json.Unmarshal(text, &spec) == nil {
			m.wantBy(namespaceOf(metadata), spec)
		}
	}
	return m.mocks()
}

func namespaceOf(metadata map[string]any) string {
	namespace, _ := metadata["namespace"].(string)
	return cmp.Or(namespace, metav1.NamespaceDefault)
}

// missing has what pods want, with the keys of each, and the objects of the input, by kind, namespace and name.
type missing struct {
	has    map[string]bool
	wanted map[string]map[string]bool
}

// want notes that pods of a namespace want an object, with some keys, unless they can do without.
func (m missing) want(kind, namespace, name string, optional *bool, keys ...string) {
	id := path.Join(kind, namespace, name)
	if name == "" || m.has[id] || optional != nil && *optional || kind == "ConfigMap" && name == "kube-root-ca.crt" || kind == "ServiceAccount" && name == "default" {
		return
	}
	if m.wanted[id] == nil {
		m.wanted[id] = make(map[string]bool)
	}
	for _, key := range keys {
		m.wanted[id][key] = true
	}
}

// wantBy notes what a pod wants.
func (m missing) wantBy(namespace string, spec corev1.PodSpec) {
	m.want("ServiceAccount", namespace, spec.ServiceAccountName, nil)
	for _, v := range spec.Volumes {
		if s := v.Secret; s != nil {
			m.want("Secret", namespace, s.SecretName, s.Optional, keysOf(s.Items)...)
		}
		if c := v.ConfigMap; c != nil {
			m.want("ConfigMap", namespace, c.Name, c.Optional, keysOf(c.Items)...)
		}
		if v.Projected == nil {
			continue
		}
		for _, p := range v.Projected.Sources {
			if s := p.Secret; s != nil {
				m.want("Secret", namespace, s.Name, s.Optional, keysOf(s.Items)...)
			}
			if c := p.ConfigMap; c != nil {
				m.want("ConfigMap", namespace, c.Name, c.Optional, keysOf(c.Items)...)
			}
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, e := range c.EnvFrom {
			if s := e.SecretRef; s != nil {
				m.want("Secret", namespace, s.Name, s.Optional)
			}
			if c := e.ConfigMapRef; c != nil {
				m.want("ConfigMap", namespace, c.Name, c.Optional)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom == nil {
				continue
			}
			if s := e.ValueFrom.SecretKeyRef; s != nil {
				m.want("Secret", namespace, s.Name, s.Optional, s.Key)
			}
			if c := e.ValueFrom.ConfigMapKeyRef; c != nil {
				m.want("ConfigMap", namespace, c.Name, c.Optional, c.Key)
			}
		}
	}
}

func keysOf(items []corev1.KeyToPath) (keys []string) {
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return keys
}

// mocks are objects with a word as the value of each key.
func (m missing) mocks() (all []map[string]any) {
	for _, id := range slices.Sorted(maps.Keys(m.wanted)) {
		kind, namespace, name := path.Dir(path.Dir(id)), path.Base(path.Dir(id)), path.Base(id)
		o := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}}
		values := make(map[string]any)
		for key := range m.wanted[id] {
			values[key] = "mock"
		}
		switch kind {
		case "Secret":
			o["stringData"] = values
		case "ConfigMap":
			o["data"] = values
		}
		all = append(all, o)
	}
	return all
}

// NodeLabels are the labels that nodes need for the node selectors of pods, for each of some nodes: where pods want several
// values of one label, the nodes take turns.
func NodeLabels(objects []map[string]any, nodes int) []map[string]string {
	values := make(map[string]map[string]bool)
	for _, o := range objects {
		selector, _ := kube.PodSpec(o)["nodeSelector"].(map[string]any)
		for key, value := range selector {
			text, is := value.(string)
			if !is || slices.Contains(ownLabels, key) {
				continue
			}
			if values[key] == nil {
				values[key] = make(map[string]bool)
			}
			values[key][text] = true
		}
	}
	all := make([]map[string]string, nodes)
	for n := range all {
		all[n] = make(map[string]string)
		for key, texts := range values {
			sorted := slices.Sorted(maps.Keys(texts))
			all[n][key] = sorted[n%len(sorted)]
		}
	}
	return all
}

// ownLabels are those that a kubelet sets.
var ownLabels = []string{corev1.LabelOSStable, corev1.LabelArchStable, corev1.LabelHostname}
