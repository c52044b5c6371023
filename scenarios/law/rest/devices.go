package rest

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var ownsDevices = Law{
	Breach:     "a device has two owners",
	Class:      "two owners of one device",
	Components: []string{record.Scheduler},
	Statement:  "A device is allocated to one claim, and allocated devices share no more than what they have in common.",
	Source:     "k8s.io/api/resource/v1/types.go",
	judge: func(s *State, report reporter) {
		owners := make(map[device][]*timeline.Version)
		for _, a := range s.allocations() {
			if a.ShareID != nil {
				continue
			}
			if all := owners[a.device]; len(all) > 0 && all[0] != a.claim {
				report(a.claim, "device %s is allocated to %s, too", a.device, all[0].Key)
			}
			owners[a.device] = append(owners[a.device], a.claim)
		}
		pools := s.pools()
		for _, name := range slices.SortedFunc(maps.Keys(pools), pool.compare) {
			s.judgePool(name, pools[name], report)
		}
	},
}

// pool has devices that belong together.
type pool struct{ driver, name string }

func (p pool) compare(q pool) int { return strings.Compare(p.driver+"/"+p.name, q.driver+"/"+q.name) }

type device struct {
	pool
	device string
}

func (d device) String() string { return d.driver + "/" + d.name + "/" + d.device }

// allocation is a device that a claim has.
type allocation struct {
	device
	resourcev1.DeviceRequestAllocationResult
	claim *timeline.Version
}

// allocations are those of all claims, by claim. One for an administrator takes nothing from others.
func (s *State) allocations() (all []allocation) {
	for _, v := range s.all("resourceclaims") {
		of := timeline.As[resourcev1.ResourceClaim](v).Status.Allocation
		if of == nil {
			continue
		}
		for _, r := range of.Devices.Results {
			if r.AdminAccess == nil || !*r.AdminAccess {
				all = append(all, allocation{device{pool{r.Driver, r.Pool}, r.Device}, r, v})
			}
		}
	}
	return all
}

// slice has devices of a pool.
type slice struct {
	*resourcev1.ResourceSlice
	version *timeline.Version
}

// pools are those that are complete, and as they were when their devices were allocated.
func (s *State) pools() map[pool][]slice {
	pools := make(map[pool][]slice)
	for _, v := range s.all("resourceslices") {
		of := timeline.As[resourcev1.ResourceSlice](v)
		name := pool{of.Spec.Driver, of.Spec.Pool.Name}
		pools[name] = append(pools[name], slice{of, v})
	}
	maps.DeleteFunc(pools, func(_ pool, all []slice) bool {
		return slices.ContainsFunc(all, func(one slice) bool {
			return one.Generation > 1 || one.DeletionTimestamp != nil || s.Written[one.version.Key] ||
				one.Spec.Pool.Generation != all[0].Spec.Pool.Generation || int(one.Spec.Pool.ResourceSliceCount) != len(all)
		})
	})
	for _, a := range s.allocations() {
		of := timeline.As[resourcev1.ResourceClaim](a.claim)
		at := of.CreationTimestamp
		if stamp := of.Status.Allocation.AllocationTimestamp; stamp != nil {
			at = *stamp
		}
		if slices.ContainsFunc(pools[a.pool], func(one slice) bool { return one.CreationTimestamp.After(at.Time) }) {
			delete(pools, a.pool)
		}
	}
	return pools
}

// judgePool compares what the allocated devices of a pool consume with what it has.
func (s *State) judgePool(name pool, all []slice, report reporter) {
	allocated := make(map[string][]allocation)
	for _, a := range s.allocations() {
		if a.pool == name {
			allocated[a.device.device] = append(allocated[a.device.device], a)
		}
	}
	counters := make(map[string]resource.Quantity)
	for _, one := range all {
		for _, d := range one.Spec.Devices {
			if len(allocated[d.Name]) == 0 {
				continue
			}
			for _, consumed := range d.ConsumesCounters {
				for counter, of := range consumed.Counters {
					add(counters, consumed.CounterSet+"/"+counter, of.Value)
				}
			}
			if d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations {
				judgeCapacity(one, d, allocated[d.Name], report)
			}
		}
	}
	for _, one := range all {
		for _, set := range one.Spec.SharedCounters {
			for _, counter := range slices.Sorted(maps.Keys(set.Counters)) {
				sum, value := counters[set.Name+"/"+counter], set.Counters[counter].Value
				if sum.Cmp(value) > 0 {
					report(one.version, "allocated devices consume %s of counter %s of %s, which has %s", sum.String(), counter, set.Name, value.String())
				}
			}
		}
	}
}

// judgeCapacity compares what claims consume of a device that they share with what it has.
func judgeCapacity(of slice, d resourcev1.Device, all []allocation, report reporter) {
	consumed := make(map[resourcev1.QualifiedName]resource.Quantity)
	for _, a := range all {
		addTo(consumed, a.ConsumedCapacity)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		sum, value := consumed[name], d.Capacity[name].Value
		if sum.Cmp(value) > 0 {
			report(of.version, "claims consume %s of capacity %s of device %s, which has %s", sum.String(), name, d.Name, value.String())
		}
	}
}

var configuresOwn = Law{
	Breach:     "the configuration of a class is for requests of other classes, too",
	Class:      "wrong field or answer",
	Components: []string{record.Scheduler},
	Statement:  "The configuration that a claim gets from a DeviceClass names the requests for devices of that class.",
	Source:     "k8s.io/api/resource/v1/types.go, DeviceAllocationConfiguration",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, v := range s.all("resourceclaims") {
			of := timeline.As[resourcev1.ResourceClaim](v)
			if of.Status.Allocation == nil {
				continue
			}
			classes := make(map[string]bool)
			for _, r := range of.Spec.Devices.Requests {
				if r.Exactly != nil {
					classes[r.Exactly.DeviceClassName] = true
				}
			}
			for n, c := range of.Status.Allocation.Devices.Config {
				if c.Source == resourcev1.AllocationConfigSourceClass && len(c.Requests) == 0 && len(classes) > 1 {
					report(v, "status.allocation.devices.config[%d] is of a class, and names no request of %d classes", n, len(classes))
				}
			}
		}
	},
}

var namesDevices = Law{
	Breach:     "it has a name that no selector can have",
	Class:      "invalid thing accepted",
	Components: []string{record.APIServer},
	Statement:  "The name of an attribute or a capacity of a device is an identifier, after the name of a domain and a slash or without.",
	Source:     "k8s.io/api/resource/v1/types.go, QualifiedName",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, v := range s.all("resourceslices") {
			for _, d := range timeline.As[resourcev1.ResourceSlice](v).Spec.Devices {
				for _, name := range slices.Concat(slices.Sorted(maps.Keys(d.Attributes)), slices.Sorted(maps.Keys(d.Capacity))) {
					if strings.Count(string(name), "/") > 1 {
						report(v, "device %s has %s", d.Name, name)
					}
				}
			}
		}
	},
}
