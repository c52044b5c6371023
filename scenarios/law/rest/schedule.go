package rest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helper "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// retried is how long a scheduler may take to look at a pod again after a change lets it fit: its backoff of at most ten seconds,
// and the time of an attempt.
const retried = 12 * time.Second

var isScheduled = Law{
	Breach:     "it is not scheduled although it fits a node",
	Class:      "pod never scheduled",
	Components: []string{record.Scheduler},
	Statement:  "A pod that fits a node is scheduled.",
	Source:     "kubernetes/website, docs/concepts/scheduling-eviction/kube-scheduler.md",
	judge: func(s *State, report reporter) {
		waiting := s.unscheduled()
		if len(waiting) == 0 || !s.isWhole() || !s.hasScheduler() || !s.schedulerRuns() {
			return
		}
		freed, placed := s.changes()
		if freed {
			return
		}
		rooms := s.rooms()
		for _, v := range waiting {
			n := s.newcomer(v, waiting, rooms)
			if n == nil || placed && len(n.near)+len(n.spreads) > 0 || s.isUnseen(v) {
				continue
			}
			if i := slices.IndexFunc(rooms, n.fitsInto); i >= 0 {
				says := cmp.Or(pod{v}.condition(corev1.PodScheduled).Message, "nothing")
				report(v, "it fits %s: the scheduler says: %s", rooms[i].Name, says)
			}
		}
	},
}

// isWhole reports whether the state has the objects of all namespaces. A record of a cluster that others use, too, does not.
func (s *State) isWhole() bool {
	if s.get("namespaces", "", metav1.NamespaceSystem) == nil {
		return false
	}
	return !slices.ContainsFunc(s.all("pods"), func(v *timeline.Version) bool { return s.get("namespaces", "", v.Namespace) == nil })
}

// changes reports whether something changed of late that can let a pod fit a node, and whether pods were placed. The scheduler may
// not have looked at a pod again since, and what frees a place is not there any more: it has to be taken from the record.
func (s *State) changes() (freed, placed bool) {
	for _, v := range s.record.Versions {
		if v.Place >= s.place || v.Cluster != "" || v.Static() || s.At.Sub(v.Time) >= retried {
			continue
		}
		if !slices.Contains([]string{"pods", "nodes", "namespaces"}, v.Resource) {
			continue
		}
		before := s.record.Before(v.Key, v.Place)
		switch isNew := before == nil || before.Gone(); {
		case v.Resource == "pods" && v.Gone():
			freed = freed || !isNew && before.Pod().Spec.NodeName+before.Pod().Status.NominatedNodeName != ""
		case v.Resource == "pods" && isNew:
			placed = placed || v.Pod().Spec.NodeName != ""
		case v.Resource == "pods":
			freed, placed = freed || frees(before, v), placed || before.Pod().Spec.NodeName != v.Pod().Spec.NodeName
		default:
			freed = freed || isNew || v.Gone() || isOther(before, v)
		}
	}
	return freed, placed
}

// frees reports whether the change of a pod can let it, or another one, fit a node.
func frees(before, v *timeline.Version) bool {
	old, now := *before.Pod(), *v.Pod()
	if kept := old.Status.NominatedNodeName; kept != now.Status.NominatedNodeName && kept != now.Spec.NodeName {
		return true
	}
	old.Spec.NodeName, now.Spec.NodeName = "", ""
	return (pod{before}).active() != (pod{v}).active() || !areEqual(demands(&old), demands(&now)) ||
		!equality.Semantic.DeepEqual(old.Labels, now.Labels) || !equality.Semantic.DeepEqual(old.Spec, now.Spec)
}

// isOther reports whether a node or a namespace is another one for pods.
func isOther(before, v *timeline.Version) bool {
	old, now := timeline.As[corev1.Node](before), timeline.As[corev1.Node](v)
	ready := func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	return !equality.Semantic.DeepEqual(old.Labels, now.Labels) || !equality.Semantic.DeepEqual(old.Spec, now.Spec) ||
		!areEqual(old.Status.Allocatable, now.Status.Allocatable) ||
		slices.ContainsFunc(old.Status.Conditions, ready) != slices.ContainsFunc(now.Status.Conditions, ready)
}

// elected is how long another scheduler may take to lead once one is gone, or the same one after a start.
const elected = 30 * time.Second

// schedulerRuns reports whether a scheduler runs, and no other one started or ended of late. Without a word about one it may.
func (s *State) schedulerRuns() bool {
	running := make(map[string]bool) // by component
	for _, e := range slices.Backward(s.record.Events[:min(s.place, len(s.record.Events))]) {
		started := e.Kind == (record.ComponentStarted{}).EventKind()
		if name, _, _ := strings.Cut(e.Subject, "/"); name != record.Scheduler || !started && e.Kind != (record.ComponentStopped{}).EventKind() {
			continue
		}
		if s.At.Sub(e.At) < elected {
			return false
		}
		if _, known := running[e.Subject]; !known {
			running[e.Subject] = started
		}
	}
	return len(running) == 0 || slices.Contains(slices.Collect(maps.Values(running)), true)
}

// isUnseen reports whether a pod is so new that a scheduler need not have looked at it.
func (s *State) isUnseen(v *timeline.Version) bool {
	return (pod{v}).condition(corev1.PodScheduled).Status == "" && s.since(v.Meta().CreationTimestamp) < retried
}

// hasScheduler reports whether the default scheduler runs, or ran: it said that a pod can't be scheduled, or scheduled one.
func (s *State) hasScheduler() bool {
	return slices.ContainsFunc(s.all("pods"), func(v *timeline.Version) bool {
		c := pod{v}.condition(corev1.PodScheduled)
		refused := c.Status == corev1.ConditionFalse && c.Reason != corev1.PodReasonSchedulingGated
		return isOfDefaultScheduler(v) && (refused || s.placement(v) != nil)
	})
}

func isOfDefaultScheduler(v *timeline.Version) bool {
	name := v.Pod().Spec.SchedulerName
	return name == "" || name == corev1.DefaultSchedulerName
}

// unscheduled are the pods that wait for the default scheduler.
func (s *State) unscheduled() (all []*timeline.Version) {
	for _, v := range s.all("pods") {
		spec := v.Pod().Spec
		if (pod{v}).active() && spec.NodeName == "" && len(spec.SchedulingGates) == 0 && isOfDefaultScheduler(v) {
			all = append(all, v)
		}
	}
	return all
}

// The fields that a pod, a container and a volume may have for it to be known where the pod fits. A newer field may be about that,
// too.
var (
	plainSpec = []string{
		"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "dnsConfig", "dnsPolicy", "enableServiceLinks",
		"ephemeralContainers", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname", "hostnameOverride",
		"imagePullSecrets", "initContainers", "nodeSelector", "os", "overhead", "preemptionPolicy", "priority", "priorityClassName",
		"readinessGates", "resources", "restartPolicy", "runtimeClassName", "schedulerName", "schedulingGates", "securityContext",
		"serviceAccount", "serviceAccountName", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
		"terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes",
	}
	plainContainer = []string{
		"args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "name", "ports",
		"readinessProbe", "resizePolicy", "resources", "restartPolicy", "securityContext", "startupProbe", "stdin", "stdinOnce",
		"terminationMessagePath", "terminationMessagePolicy", "tty", "volumeDevices", "volumeMounts", "workingDir",
	}
	plainVolume = []string{"name", "configMap", "downwardAPI", "emptyDir", "hostPath", "image", "projected", "secret"}
)

// isPlain reports whether it is known what keeps a pod from a node. A pod that is not plain can wait for volumes, devices or others
// of its group, and holds what it needs on a node meanwhile, which it does not say.
func isPlain(v *timeline.Version) bool {
	fields, _ := v.Fields()["spec"].(map[string]any)
	if !hasOnly(fields, plainSpec) || !eachHasOnly(fields["volumes"], plainVolume) {
		return false
	}
	if !eachHasOnly(fields["containers"], plainContainer) || !eachHasOnly(fields["initContainers"], plainContainer) {
		return false
	}
	spec := v.Pod().Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return len(m.BindMountOptions) > 0 }) {
			return false
		}
	}
	known := []corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists}
	compares := slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool { return !slices.Contains(known, t.Operator) })
	return !compares && (!spec.HostNetwork || spec.HostUsers == nil || *spec.HostUsers)
}

// hasOnly reports whether an object has no fields but some.
func hasOnly(fields map[string]any, some []string) bool {
	for name := range fields {
		if !slices.Contains(some, name) {
			return false
		}
	}
	return true
}

func eachHasOnly(list any, some []string) bool {
	all, _ := list.([]any)
	return !slices.ContainsFunc(all, func(of any) bool {
		fields, _ := of.(map[string]any)
		return !hasOnly(fields, some)
	})
}

// room is a node, as pods find it.
type room struct {
	*corev1.Node
	open      bool // it takes pods
	tenants   []tenant
	used      corev1.ResourceList
	nominated []string // the keys of pods that it is kept free for
}

// tenant is a pod on a node.
type tenant struct {
	*corev1.Pod
	apart []term
	ports []corev1.ContainerPort
}

// domain is a part of a topology: all nodes that have a label.
type domain struct{ key, value string }

func (d domain) String() string { return d.key + "=" + d.value }

// rooms are the nodes, by name.
func (s *State) rooms() (all []*room) {
	byName := make(map[string]*room)
	for _, v := range s.all("nodes") {
		r := &room{open: s.isReadyNode(v.Name) && v.Meta().DeletionTimestamp == nil, used: make(corev1.ResourceList)}
		r.Node = timeline.As[corev1.Node](v)
		all, byName[v.Name] = append(all, r), r
	}
	for _, v := range s.all("pods") {
		p := v.Pod()
		if (pod{v}).ended() {
			continue
		}
		if r := byName[p.Spec.NodeName]; r != nil {
			r.tenants = append(r.tenants, tenant{p, termsOf(p, antiAffinity(p), labels.Everything()), hostPorts(p)})
			addTo(r.used, demands(p))
		}
		if r := byName[p.Status.NominatedNodeName]; r != nil && p.Spec.NodeName == "" {
			r.nominated = append(r.nominated, v.Key)
		}
	}
	return all
}

// newcomer is a pod that looks for a node.
type newcomer struct {
	*timeline.Version
	pod         *corev1.Pod
	nodes       nodeaffinity.RequiredNodeAffinity
	demands     corev1.ResourceList
	places      int // how many pods it needs a place for
	ports       []corev1.ContainerPort
	near, apart []term
	spreads     []spread
	// barred are the domains that an anti-affinity keeps it from, and joined those with pods that it has an affinity to.
	barred, joined map[domain]bool
	// first is true if it may be the first pod that its affinity is about.
	first bool
	// counts are how many pods each domain has, by constraint.
	counts []map[string]int
}

// newcomer returns a pod that looks for a node; nil if it is not known where it fits.
func (s *State) newcomer(v *timeline.Version, waiting []*timeline.Version, rooms []*room) *newcomer {
	p := v.Pod()
	spreads, known := spreadsOf(p)
	if !isPlain(v) || !known || slices.ContainsFunc(slices.Concat(affinity(p), antiAffinity(p)), matchesKeys) {
		return nil
	}
	n := &newcomer{
		Version: v, pod: p, nodes: nodeaffinity.GetRequiredNodeAffinity(p), demands: demands(p), places: 1, ports: hostPorts(p),
		near: termsOf(p, affinity(p), labels.Nothing()), apart: termsOf(p, antiAffinity(p), labels.Everything()), spreads: spreads,
		barred: make(map[domain]bool), joined: make(map[domain]bool),
	}
	for _, other := range waiting {
		if other == v || isPlain(other) {
			continue
		}
		if s.concerns(n, other.Pod()) {
			return nil
		}
		addTo(n.demands, demands(other.Pod())) // wherever it is held
		n.places++
	}
	n.first = s.meetsAll(n.near, p)
	s.meetTenants(n, rooms)
	for _, c := range spreads {
		counts := make(map[string]int)
		for _, r := range rooms {
			if value, has := r.Labels[c.TopologyKey]; has && c.isEligible(r.Node, p, spreads, n.nodes) {
				counts[value] += c.countIn(r.tenants, p.Namespace)
			}
		}
		n.counts = append(n.counts, counts)
	}
	return n
}

// concerns reports whether it matters to a newcomer, but for resources, on which node a pod is.
func (s *State) concerns(n *newcomer, p *corev1.Pod) bool {
	meets := func(t term) bool { return s.meets(t, p) }
	return portsClash(n.ports, hostPorts(p)) || slices.ContainsFunc(n.apart, meets) || slices.ContainsFunc(n.near, meets) ||
		slices.ContainsFunc(termsOf(p, antiAffinity(p), labels.Everything()), func(t term) bool { return s.meets(t, n.pod) }) ||
		slices.ContainsFunc(n.spreads, func(c spread) bool { return p.Namespace == n.pod.Namespace && c.selector.Matches(labels.Set(p.Labels)) })
}

// meetTenants takes the pods on nodes into account.
func (s *State) meetTenants(n *newcomer, rooms []*room) {
	for _, r := range rooms {
		for _, t := range r.tenants {
			s.meetTenant(n, r, t)
		}
	}
}

// meetTenant takes a pod on a node into account.
func (s *State) meetTenant(n *newcomer, r *room, t tenant) {
	mark := func(in map[domain]bool, key string) {
		if value, has := r.Labels[key]; has {
			in[domain{key, value}] = true
		}
	}
	for _, term := range t.apart {
		if s.meets(term, n.pod) {
			mark(n.barred, term.key)
		}
	}
	for _, term := range n.apart {
		if s.meets(term, t.Pod) {
			mark(n.barred, term.key)
		}
	}
	if len(n.near) > 0 && s.meetsAll(n.near, t.Pod) {
		n.first = false
		for _, term := range n.near {
			mark(n.joined, term.key)
		}
	}
}

// countIn is how many pods of a namespace a constraint counts on a node.
func (c spread) countIn(tenants []tenant, namespace string) (n int) {
	for _, t := range tenants {
		if t.DeletionTimestamp == nil && t.Namespace == namespace && c.selector.Matches(labels.Set(t.Labels)) {
			n++
		}
	}
	return n
}

// fitsInto reports whether a node takes a pod.
func (n *newcomer) fitsInto(r *room) bool {
	if !r.open || slices.ContainsFunc(r.nominated, func(key string) bool { return key != n.Key }) {
		return false
	}
	if slices.ContainsFunc(r.tenants, func(t tenant) bool { return portsClash(n.ports, t.ports) }) {
		return false
	}
	matches, err := n.nodes.Match(r.Node)
	return err == nil && matches && tolerates(n.pod, r.Node) && n.hasPlace(r) && n.mayJoin(r) && n.isEven(r)
}

// tolerates reports whether the taints of a node let a pod in.
func tolerates(p *corev1.Pod, node *corev1.Node) bool {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !scheduling.TolerationsTolerateTaint(logr.Discard(), p.Spec.Tolerations, &cordon, false) {
		return false
	}
	return toleratesTaints(p, node)
}

func toleratesTaints(p *corev1.Pod, node *corev1.Node) bool {
	keepsOut := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	_, untolerated := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, p.Spec.Tolerations, keepsOut, false)
	return !untolerated
}

// hasPlace reports whether a node has what a pod requests.
func (n *newcomer) hasPlace(r *room) bool {
	allocatable := r.Status.Allocatable
	if resource.NewQuantity(int64(len(r.tenants)+n.places), resource.DecimalSI).Cmp(allocatable[corev1.ResourcePods]) > 0 {
		return false
	}
	for name, wanted := range n.demands {
		if wanted.IsZero() {
			continue
		}
		sum := wanted.DeepCopy()
		sum.Add(r.used[name])
		if sum.Cmp(allocatable[name]) > 0 {
			return false
		}
	}
	return true
}

// mayJoin reports whether the pods that run close to a node let a pod in, and are those that it wants to be close to.
func (n *newcomer) mayJoin(r *room) bool {
	for d := range n.barred {
		if value, has := r.Labels[d.key]; has && value == d.value {
			return false
		}
	}
	for _, t := range n.near {
		value, has := r.Labels[t.key]
		if !has || !n.first && !n.joined[domain{t.key, value}] {
			return false
		}
	}
	return true
}

// isEven reports whether pods are still spread evenly with one more on a node.
func (n *newcomer) isEven(r *room) bool {
	for i, c := range n.spreads {
		value, has := r.Labels[c.TopologyKey]
		here, eligible := n.counts[i][value]
		if !has || !eligible {
			return false
		}
		least := slices.Min(slices.Collect(maps.Values(n.counts[i])))
		if c.MinDomains != nil && len(n.counts[i]) < int(*c.MinDomains) {
			least = 0
		}
		if c.selector.Matches(labels.Set(n.pod.Labels)) {
			here++
		}
		if here-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

// demands are what a pod needs of a node, as much as any scheduler may think.
func demands(p *corev1.Pod) corev1.ResourceList {
	most := make(corev1.ResourceList)
	for _, options := range []helper.PodResourcesOptions{
		{}, {UseStatusResources: true}, {UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true},
	} {
		options.UseDRANodeAllocatableResourceClaimStatus = true
		for name, q := range helper.PodRequests(p, options) {
			q = q.DeepCopy()
			if name == corev1.ResourceCPU {
				q.RoundUp(resource.Milli)
			} else {
				q.RoundUp(0)
			}
			if q.Cmp(most[name]) > 0 {
				most[name] = q
			}
		}
	}
	return most
}

// addTo adds quantities to others, by name.
func addTo[Name comparable](sums, more map[Name]resource.Quantity) {
	for name, q := range more {
		add(sums, name, q)
	}
}

func add[Name comparable](sums map[Name]resource.Quantity, name Name, q resource.Quantity) {
	sum := sums[name].DeepCopy()
	sum.Add(q)
	sums[name] = sum
}

// hostPorts are the ports of a node that a pod takes.
func hostPorts(p *corev1.Pod) (all []corev1.ContainerPort) {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				all = append(all, port)
			}
		}
	}
	return all
}

func portsClash(a, b []corev1.ContainerPort) bool {
	isAny := func(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }
	for _, p := range a {
		for _, q := range b {
			same := p.HostPort == q.HostPort && cmp.Or(p.Protocol, corev1.ProtocolTCP) == cmp.Or(q.Protocol, corev1.ProtocolTCP)
			if same && (p.HostIP == q.HostIP || isAny(p.HostIP) || isAny(q.HostIP)) {
				return true
			}
		}
	}
	return false
}

// term is a part of an affinity to pods, or of an anti-affinity.
type term struct {
	key        string
	selector   labels.Selector
	namespaces []string
	among      labels.Selector // of namespaces
}

func affinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	return p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func antiAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func matchesKeys(t corev1.PodAffinityTerm) bool {
	return len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0
}

// termsOf are the terms of a pod, with a selector instead of those that are not valid.
func termsOf(p *corev1.Pod, all []corev1.PodAffinityTerm, invalid labels.Selector) (terms []term) {
	parse := func(of *metav1.LabelSelector) labels.Selector {
		selector, err := metav1.LabelSelectorAsSelector(of)
		if err != nil {
			return invalid
		}
		return selector
	}
	for _, t := range all {
		namespaces := t.Namespaces
		if len(namespaces) == 0 && t.NamespaceSelector == nil {
			namespaces = []string{p.Namespace}
		}
		terms = append(terms, term{t.TopologyKey, parse(t.LabelSelector), namespaces, parse(t.NamespaceSelector)})
	}
	return terms
}

// meets reports whether a term is about a pod.
func (s *State) meets(t term, p *corev1.Pod) bool {
	if !t.selector.Matches(labels.Set(p.Labels)) {
		return false
	}
	if slices.Contains(t.namespaces, p.Namespace) || t.among.Empty() {
		return true
	}
	v := s.get("namespaces", "", p.Namespace)
	return v != nil && t.among.Matches(labels.Set(v.Meta().Labels))
}

func (s *State) meetsAll(all []term, p *corev1.Pod) bool {
	return !slices.ContainsFunc(all, func(t term) bool { return !s.meets(t, p) })
}

// spread is a constraint that keeps a pod unscheduled rather than spread pods unevenly.
type spread struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
}

// spreadsOf are those of a pod. They are not known if one is about labels that are taken from the pod when it is scheduled.
func spreadsOf(p *corev1.Pod) (all []spread, known bool) {
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil || len(c.MatchLabelKeys) > 0 {
			return nil, false
		}
		all = append(all, spread{c, selector})
	}
	return all, true
}

// isEligible reports whether a constraint of a pod is about a node.
func (c spread) isEligible(node *corev1.Node, p *corev1.Pod, all []spread, nodes nodeaffinity.RequiredNodeAffinity) bool {
	for _, other := range all {
		if _, has := node.Labels[other.TopologyKey]; !has {
			return false
		}
	}
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if matches, err := nodes.Match(node); err != nil || !matches {
			return false
		}
	}
	return !c.honorsTaints() || toleratesTaints(p, node)
}

func (c spread) honorsTaints() bool {
	return c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
}
