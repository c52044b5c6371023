package rest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var getsDevices = Law{
	Breach:     "it waits for a device although one is free",
	Class:      "pod never scheduled",
	Components: []string{record.Scheduler},
	Statement:  "A pod that asks for a device gets one that is free, and is scheduled.",
	Source:     "kubernetes/website, docs/concepts/scheduling-eviction/dynamic-resource-allocation.md",
	judge: func(s *State, report reporter) {
		if !s.schedulerRuns() {
			return
		}
		rooms := s.rooms()
		for _, v := range s.unscheduled() {
			c := pod{v}.condition(corev1.PodScheduled)
			if c.Status != corev1.ConditionFalse || !needsOnlyDevices(v) || s.isFreed(v) {
				continue
			}
			asked, known := s.asked(v)
			if !known || len(asked) != 1 {
				continue
			}
			if name, is := s.free(asked[0], func(node string) bool { return s.takes(node, v, rooms) }); is {
				report(v, "device %s is free: the scheduler says: %s", name, c.Message)
			}
		}
	},
}

// needsOnlyDevices reports whether nothing but devices, resources and ports can keep a pod from a node that takes pods.
func needsOnlyDevices(v *timeline.Version) bool {
	fields, _ := v.Fields()["spec"].(map[string]any)
	spec := v.Pod().Spec
	return hasOnly(fields, append(slices.Clip(plainSpec), "resourceClaims")) && eachHasOnly(fields["volumes"], plainVolume) &&
		spec.Affinity == nil && len(spec.NodeSelector) == 0 && len(spec.TopologySpreadConstraints) == 0
}

// isFreed reports whether something changed of late, once a pod was there, that can let it have a device: the scheduler may not have
// looked at it again since.
func (s *State) isFreed(p *timeline.Version) bool {
	since := s.firstPlace(p)
	return slices.ContainsFunc(s.record.Versions, func(v *timeline.Version) bool {
		if v.Place >= s.place || v.Cluster != "" || v.Static() || v.Place < since || s.At.Sub(v.Time) >= retried {
			return false
		}
		before := s.record.Before(v.Key, v.Place)
		isNew := before == nil || before.Gone()
		switch v.Resource {
		case "resourceslices", "deviceclasses":
			return true
		case "resourceclaims":
			return isNew || v.Gone() || isAllocated(before) && !isAllocated(v)
		case "pods":
			return !isNew && before.Pod().Spec.NodeName != "" && (v.Gone() || frees(before, v))
		case "nodes":
			return isNew || isOther(before, v)
		}
		return false
	})
}

func isAllocated(v *timeline.Version) bool {
	return timeline.As[resourcev1.ResourceClaim](v).Status.Allocation != nil
}

// takes reports whether a node takes a pod, apart from devices.
func (s *State) takes(node string, v *timeline.Version, rooms []*room) bool {
	n := &newcomer{Version: v, pod: v.Pod(), demands: demands(v.Pod()), places: 1, ports: hostPorts(v.Pod()), barred: make(map[domain]bool)}
	maps.DeleteFunc(n.demands, func(name corev1.ResourceName, _ resource.Quantity) bool { return strings.Contains(string(name), "/") })
	s.meetTenants(n, rooms)
	i := slices.IndexFunc(rooms, func(r *room) bool { return r.Name == node })
	return i >= 0 && s.takesPods(node) && n.fitsInto(rooms[i])
}

// ask is what a pod asks for: one device of a driver, with some capacity.
type ask struct {
	driver      string
	capacity    map[string]resource.Quantity
	tolerations []resourcev1.DeviceToleration
}

// asked are the devices that a pod asks for. It is false if something of that is not understood.
func (s *State) asked(v *timeline.Version) (all []ask, known bool) {
	spec := v.Pod().Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for name, amount := range c.Resources.Limits {
			if !strings.Contains(string(name), "/") {
				continue
			}
			driver, is := s.driverOf(func(class *resourcev1.DeviceClass) bool {
				return class.Spec.ExtendedResourceName != nil && *class.Spec.ExtendedResourceName == string(name)
			})
			if !is || amount.Cmp(resource.MustParse("1")) != 0 {
				return nil, false
			}
			all = append(all, ask{driver: driver})
		}
	}
	for _, of := range spec.ResourceClaims {
		if of.ResourceClaimName == nil {
			return nil, false
		}
		claim := s.get("resourceclaims", v.Namespace, *of.ResourceClaimName)
		if claim == nil {
			return nil, false
		}
		c := timeline.As[resourcev1.ResourceClaim](claim)
		if c.Status.Allocation != nil || c.DeletionTimestamp != nil || len(c.Spec.Devices.Constraints) > 0 {
			return nil, false
		}
		for _, r := range c.Spec.Devices.Requests {
			if r.Exactly == nil || len(r.Exactly.Selectors) > 0 || r.Exactly.Count > 1 || r.Exactly.AdminAccess != nil || r.Exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount {
				return nil, false
			}
			driver, is := s.driverOf(func(class *resourcev1.DeviceClass) bool { return class.Name == r.Exactly.DeviceClassName })
			if !is {
				return nil, false
			}
			one := ask{driver: driver, tolerations: r.Exactly.Tolerations, capacity: make(map[string]resource.Quantity)}
			if r.Exactly.Capacity != nil {
				for name, amount := range r.Exactly.Capacity.Requests {
					one.capacity[strings.TrimPrefix(string(name), driver+"/")] = amount
				}
			}
			all = append(all, one)
		}
	}
	return all, true
}

var ofDriver = regexp.MustCompile(`^device\.driver == "([^"]+)"$`)

// driverOf is the driver whose devices a class has, if one class is so, and asks for nothing else.
func (s *State) driverOf(is func(*resourcev1.DeviceClass) bool) (driver string, found bool) {
	for _, v := range s.all("deviceclasses") {
		class := timeline.As[resourcev1.DeviceClass](v)
		if !is(class) {
			continue
		}
		if found || len(class.Spec.Selectors) != 1 || class.Spec.Selectors[0].CEL == nil {
			return "", false
		}
		match := ofDriver.FindStringSubmatch(class.Spec.Selectors[0].CEL.Expression)
		if match == nil {
			return "", false
		}
		driver, found = match[1], true
	}
	return driver, found
}

// free is a device that can be given to who asks, on a node that takes the pod.
func (s *State) free(a ask, takes func(node string) bool) (name string, is bool) {
	allocated := make(map[device][]allocation)
	for _, of := range s.allocations() {
		allocated[of.device] = append(allocated[of.device], of)
	}
	slicesOf := make(map[pool]int)
	for _, v := range s.all("resourceslices") {
		of := timeline.As[resourcev1.ResourceSlice](v)
		slicesOf[pool{of.Spec.Driver, of.Spec.Pool.Name}]++
	}
	for _, v := range s.all("resourceslices") {
		of := timeline.As[resourcev1.ResourceSlice](v)
		whole := of.Spec.Pool.ResourceSliceCount == 1 && slicesOf[pool{of.Spec.Driver, of.Spec.Pool.Name}] == 1
		if of.Spec.Driver != a.driver || of.Spec.NodeName == nil || !whole || !takes(*of.Spec.NodeName) {
			continue
		}
		for _, d := range of.Spec.Devices {
			id := device{pool{of.Spec.Driver, of.Spec.Pool.Name}, d.Name}
			shared := d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
			if len(d.ConsumesCounters) > 0 || len(d.BindingConditions) > 0 || !tolerated(d.Taints, a.tolerations) || !shared && (len(allocated[id]) > 0 || len(a.capacity) > 0) || shared && len(a.capacity) == 0 {
				continue
			}
			if !shared || hasRoom(a, d, allocated[id]) {
				return id.String() + " on " + *of.Spec.NodeName, true
			}
		}
	}
	return "", false
}

// hasRoom reports whether a device is known to have so much capacity left.
func hasRoom(a ask, d resourcev1.Device, allocated []allocation) bool {
	short := func(name resourcev1.QualifiedName) string { return strings.TrimPrefix(string(name), a.driver+"/") }
	matched := 0
	for name, of := range d.Capacity {
		amount, asked := a.capacity[short(name)]
		if asked {
			matched++
		}
		needed, known := consumed(of, amount, asked)
		left := of.Value.DeepCopy()
		for _, other := range allocated {
			for of, amount := range other.ConsumedCapacity {
				if short(of) == short(name) {
					left.Sub(amount)
				}
			}
		}
		if !known || left.Cmp(needed) < 0 {
			return false
		}
	}
	return matched == len(a.capacity)
}

// consumed is how much of a capacity is consumed by who asks for an amount of it, or for none: the whole then, if it has no default.
// It is not known if the amount may be rounded or refused (k8s.io/api/resource/v1, CapacityRequestPolicy).
func consumed(of resourcev1.DeviceCapacity, amount resource.Quantity, asked bool) (needed resource.Quantity, known bool) {
	policy := of.RequestPolicy
	switch {
	case !asked && (policy == nil || policy.Default == nil):
		return of.Value, true
	case !asked:
		return *policy.Default, true
	case policy == nil:
		return amount, true
	case len(policy.ValidValues) > 0:
		return amount, false
	case policy.ValidRange == nil:
		return amount, true
	}
	within := policy.ValidRange
	if within.Min != nil && amount.Cmp(*within.Min) < 0 {
		amount = *within.Min
	}
	return amount, within.Step == nil && (within.Max == nil || amount.Cmp(*within.Max) <= 0)
}

// takesPods reports whether a node is ready, and keeps no pod away.
func (s *State) takesPods(name string) bool {
	v := s.get("nodes", "", name)
	if v == nil || !s.isReadyNode(name) {
		return false
	}
	node := timeline.As[corev1.Node](v)
	return !node.Spec.Unschedulable && len(node.Spec.Taints) == 0
}

// tolerated reports whether taints of a device that keep pods away, or evict them, are all tolerated.
func tolerated(taints []resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) bool {
	return !slices.ContainsFunc(taints, func(t resourcev1.DeviceTaint) bool {
		return t.Effect != resourcev1.DeviceTaintEffectNone && !slices.ContainsFunc(tolerations, func(by resourcev1.DeviceToleration) bool { return isFor(by, t) })
	})
}

// isFor reports whether a toleration is for a taint: one without a key is for all keys, and one without an effect for all
// effects (k8s.io/api/resource/v1, DeviceToleration).
func isFor(by resourcev1.DeviceToleration, t resourcev1.DeviceTaint) bool {
	value := by.Operator == resourcev1.DeviceTolerationOpExists || by.Value == t.Value
	return (by.Key == "" || by.Key == t.Key) && (by.Effect == "" || by.Effect == t.Effect) && value && by.TolerationSeconds == nil
}

var keepsTolerant = Law{
	Breach:     "it is evicted from a device whose taints it tolerates",
	Class:      "pods restarted or evicted for nothing",
	Components: []string{record.ControllerManager},
	Statement:  "A pod is not evicted because of a taint of a device that its claim tolerates.",
	Source:     "k8s.io/api/resource/v1, DeviceToleration",
	judge: func(s *State, report reporter) {
		reported := make(map[types.UID]bool)
		for _, v := range s.record.Versions {
			if v.Place > s.place || v.Resource != "pods" || reported[v.Meta().UID] || v.Cluster != "" || v.Gone() || (pod{v}).condition(corev1.DisruptionTarget).Reason != "DeletionByDeviceTaintManager" {
				continue
			}
			if s.toleratesAll(v) {
				reported[v.Meta().UID] = true
				report(v, "condition DisruptionTarget: %s", (pod{v}).condition(corev1.DisruptionTarget).Message)
			}
		}
	},
}

// toleratesAll reports whether the claims that a pod had then tolerate all taints that devices of their drivers ever had.
func (s *State) toleratesAll(v *timeline.Version) bool {
	if v.Pod().Status.ExtendedResourceClaimStatus != nil {
		return false // it has devices by another claim, too
	}
	for _, of := range v.Pod().Spec.ResourceClaims {
		if of.ResourceClaimName == nil {
			return false
		}
		claim := s.record.Before("resourceclaims/"+v.Namespace+"/"+*of.ResourceClaimName, v.Place)
		if claim == nil || claim.Gone() {
			return false
		}
		for _, r := range timeline.As[resourcev1.ResourceClaim](claim).Spec.Devices.Requests {
			if r.Exactly == nil {
				return false
			}
			driver, is := s.driverOf(func(class *resourcev1.DeviceClass) bool { return class.Name == r.Exactly.DeviceClassName })
			if !is {
				return false
			}
			if slices.ContainsFunc(s.record.Versions, func(v *timeline.Version) bool { return taints(v, driver, r.Exactly.Tolerations) }) {
				return false
			}
		}
	}
	return len(v.Pod().Spec.ResourceClaims) > 0
}

// taints reports whether an object gives a device of a driver a taint that is not tolerated, or may do so.
func taints(v *timeline.Version, driver string, tolerations []resourcev1.DeviceToleration) bool {
	if v.Resource != "resourceslices" {
		return v.Resource == "devicetaintrules"
	}
	spec := timeline.As[resourcev1.ResourceSlice](v).Spec
	return spec.Driver == driver && slices.ContainsFunc(spec.Devices, func(d resourcev1.Device) bool {
		return !tolerated(d.Taints, tolerations)
	})
}
