package rest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var placedRight = Law{
	Breach:     "it is placed where it may not be",
	Class:      "wrong field or answer",
	Components: []string{record.Scheduler},
	Statement:  "A pod is scheduled to a node that its affinities and its spread constraints allow.",
	Source:     "kubernetes/website, docs/concepts/scheduling-eviction/assign-pod-node.md",
	judge: func(s *State, report reporter) {
		placed := make(map[string]*placement)
		var all []*placement
		for _, v := range s.all("pods") {
			if p := s.placement(v); p != nil {
				all, placed[v.Key] = append(all, p), p
			}
		}
		for _, p := range all {
			matches, err := nodeaffinity.GetRequiredNodeAffinity(p.pod).Match(p.node)
			if err == nil && !matches {
				report(p.Version, "its node selector or its node affinity does not match %s", p.node.Name)
			}
		}
		s.judgeApart(all, report)
		for _, of := range []string{"replicasets", "statefulsets"} {
			for _, owner := range s.all(of) {
				s.judgeSpread(owner, placed, report)
			}
		}
	},
}

// placement is a pod that the default scheduler is known to have placed.
type placement struct {
	*timeline.Version
	pod  *corev1.Pod
	node *corev1.Node
	at   time.Time
}

// apart is how long after a pod another one has to be scheduled for the scheduler to have known of it: the API has whole seconds.
const apart = 2 * time.Second

// placement is how a pod was placed. It is nil if a client can have done that, or changed the pod or its node since.
func (s *State) placement(v *timeline.Version) *placement {
	c, node, owner := pod{v}.condition(corev1.PodScheduled), s.get("nodes", "", v.Pod().Spec.NodeName), s.controller(v)
	if !(pod{v}).active() || !isOfDefaultScheduler(v) || s.Written[v.Key] || node == nil || s.Written[node.Key] {
		return nil
	}
	if c.Status != corev1.ConditionTrue || c.LastTransitionTime.IsZero() || !node.Meta().CreationTimestamp.Time.Before(c.LastTransitionTime.Time) {
		return nil
	}
	if owner == nil || owner.PodSpec() == nil || owner.PodSpec().NodeName != "" {
		return nil
	}
	return &placement{v, v.Pod(), timeline.As[corev1.Node](node), c.LastTransitionTime.Time}
}

// controller is the ReplicaSet, StatefulSet or Job that controls a pod.
func (s *State) controller(v *timeline.Version) *timeline.Version {
	ref := metav1.GetControllerOfNoCopy(v.Meta())
	if ref == nil {
		return nil
	}
	of := map[string]string{"ReplicaSet": "replicasets", "StatefulSet": "statefulsets", "Job": "jobs"}[ref.Kind]
	if owner := s.get(of, v.Namespace, ref.Name); owner != nil && owner.Meta().UID == ref.UID {
		return owner
	}
	return nil
}

// judgeApart looks for pods that an anti-affinity keeps apart, of either one.
func (s *State) judgeApart(all []*placement, report reporter) {
	reported := make(map[string]bool)
	for _, p := range all {
		terms := slices.DeleteFunc(slices.Clone(antiAffinity(p.pod)), func(t corev1.PodAffinityTerm) bool {
			return matchesKeys(t) || t.NamespaceSelector != nil && !isEmpty(t.NamespaceSelector) // namespaces may have had other labels
		})
		for _, t := range termsOf(p.pod, terms, labels.Nothing()) {
			value, has := p.node.Labels[t.key]
			for _, other := range all {
				before, later := p, other
				if later.at.Before(before.at) {
					before, later = later, before
				}
				close := has && other != p && other.node.Labels[t.key] == value && s.meets(t, other.pod)
				if !close || later.at.Sub(before.at) < apart || reported[later.Key] {
					continue
				}
				reported[later.Key] = true
				report(later.Version, "it was placed in %s with %s, which the anti-affinity of %s forbids", domain{t.key, value}, before.Key, p.Key)
			}
		}
	}
}

func isEmpty(s *metav1.LabelSelector) bool { return len(s.MatchLabels)+len(s.MatchExpressions) == 0 }

// batch is how far apart pods are made that are made together.
const batch = 5 * time.Second

// judgeSpread looks at the pods of a controller that never wanted others: they are spread as they were when the last one was placed.
func (s *State) judgeSpread(owner *timeline.Version, placed map[string]*placement, report reporter) {
	pods := s.pods(owner)
	if !s.isOriginal(owner, pods) || slices.ContainsFunc(s.all("nodes"), func(v *timeline.Version) bool { return s.Written[v.Key] }) {
		return
	}
	var first, last *placement
	var made []time.Time
	for _, v := range pods {
		p := placed[v.Key]
		if p == nil {
			return
		}
		made = append(made, p.pod.CreationTimestamp.Time)
		if first == nil || p.at.Before(first.at) {
			first = p
		}
		if last == nil || p.at.After(last.at) {
			last = p
		}
	}
	if first == nil {
		return
	}
	spreads, _ := spreadsOf(last.pod)
	together := slices.MaxFunc(made, time.Time.Compare).Sub(slices.MinFunc(made, time.Time.Compare)) <= batch
	for _, c := range spreads {
		// A pod that was made in the place of another one can leave more than a skew of one behind.
		if c.honorsTaints() || c.MaxSkew > 1 && !together || !s.countsOnly(c, pods) {
			continue
		}
		if uneven := s.uneven(c, spreads, first, last, placed, pods); uneven != "" {
			report(last.Version, "%s, where maxSkew is %d", uneven, c.MaxSkew)
		}
	}
}

// isOriginal reports whether a controller has all the pods that it wants, never wanted other ones, and nothing that a client deleted
// can have counted as one of them.
func (s *State) isOriginal(owner *timeline.Version, pods []pod) bool {
	meta := owner.Meta()
	if meta.Generation > 1 || s.Written[owner.Key] || meta.DeletionTimestamp != nil || len(pods) != int(owner.Workload().Spec.Replicas) {
		return false
	}
	if ref := metav1.GetControllerOfNoCopy(meta); ref != nil {
		deployment := s.get("deployments", owner.Namespace, ref.Name)
		if deployment == nil || s.Written[deployment.Key] || meta.Annotations["deployment.kubernetes.io/revision"] != "1" {
			return false
		}
	}
	for key := range s.Written {
		if strings.Contains(key, "/"+owner.Namespace+"/") && s.byKey[key] == nil {
			return false
		}
	}
	return true
}

// countsOnly reports whether a constraint counts pods, and no others of their namespace.
func (s *State) countsOnly(c spread, pods []pod) bool {
	n := 0
	for _, v := range s.in(pods[0].Namespace, "pods") {
		if c.selector.Matches(labels.Set(v.Meta().Labels)) {
			n++
		}
	}
	return n == len(pods) && !slices.ContainsFunc(pods, func(p pod) bool { return !c.selector.Matches(labels.Set(p.Meta().Labels)) })
}

// uneven says how unevenly pods are spread, if that is more than a constraint allows. Nodes that were made later can't be judged.
func (s *State) uneven(c spread, all []spread, first, last *placement, placed map[string]*placement, pods []pod) string {
	counts := make(map[string]int)
	for _, v := range s.all("nodes") {
		node := timeline.As[corev1.Node](v)
		if !c.isEligible(node, last.pod, all, nodeaffinity.GetRequiredNodeAffinity(last.pod)) {
			continue
		}
		if first.at.Sub(node.CreationTimestamp.Time) < apart {
			return ""
		}
		counts[node.Labels[c.TopologyKey]] += 0
		for _, p := range pods {
			if placed[p.Key].node.Name == node.Name {
				counts[node.Labels[c.TopologyKey]]++
			}
		}
	}
	if len(counts) == 0 {
		return ""
	}
	byCount := func(a, b string) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b)) }
	values := slices.SortedFunc(maps.Keys(counts), byCount)
	least, most := values[0], values[len(values)-1]
	if counts[most]-counts[least] <= int(c.MaxSkew) {
		return ""
	}
	return fmt.Sprintf("%s has %d of the pods, and %s has %d", domain{c.TopologyKey, most}, counts[most], domain{c.TopologyKey, least}, counts[least])
}
