package rest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// claimed is a claim with allocated devices of the pool node-a, each as "device, more fields".
func claimed(name string, results ...string) string {
	text := fmt.Sprintf("kind: ResourceClaim\nmetadata: {name: %s}\nstatus: {allocation: {devices: {results: [", name)
	for _, r := range results {
		text += fmt.Sprintf("{request: r, driver: gpu.example.com, pool: node-a, device: %s},", r)
	}
	return text + "]}}}"
}

func TestOwnsDevices(t *testing.T) {
	t.Parallel()
	// The counters are in another slice than the devices.
	const counters = `
kind: ResourceSlice
metadata: {name: counters, generation: 1}
spec:
  driver: gpu.example.com
  pool: {name: node-a, generation: 1, resourceSliceCount: 2}
  sharedCounters: [{name: card, counters: {memory: {value: 40Gi}}}]
`
	const devices = `
kind: ResourceSlice
metadata: {name: devices, generation: 1}
spec:
  driver: gpu.example.com
  pool: {name: node-a, generation: 1, resourceSliceCount: 2}
  devices:
  - {name: small, consumesCounters: [{counterSet: card, counters: {memory: {value: 10Gi}}}]}
  - {name: large, consumesCounters: [{counterSet: card, counters: {memory: {value: 35Gi}}}]}
  - name: shared
    allowMultipleAllocations: true
    capacity: {memory: {value: 7Ei}}
    consumesCounters: [{counterSet: card, counters: {memory: {value: 10Gi}}}]
`
	const half = `shared, shareID: %s, consumedCapacity: {memory: 4Ei}`
	for name, test := range map[string]struct {
		manifests []string
		written   string
		want      []string
	}{
		"nothing is allocated": {manifests: []string{counters, devices, "kind: ResourceClaim\nmetadata: {name: a}"}},
		"each has its own":     {manifests: []string{claimed("a", "small"), claimed("b", "shared")}},
		"a device with two claims": {
			manifests: []string{claimed("a", "small"), claimed("b", "large", "small")},
			want:      []string{"resourceclaims/default/b: device gpu.example.com/node-a/small is allocated to resourceclaims/default/a, too"},
		},
		"an administrator takes nothing": {manifests: []string{counters, devices, claimed("a", "small"), claimed("b", "small, adminAccess: true", "large, adminAccess: true")}},
		"shares":                         {manifests: []string{claimed("a", "shared, shareID: x"), claimed("b", "shared, shareID: y")}},
		"the counters suffice":           {manifests: []string{counters, devices, claimed("a", "small"), claimed("b", "shared, shareID: x"), claimed("c", "shared, shareID: y")}},
		"the counters do not suffice": {
			manifests: []string{counters, devices, claimed("a", "small"), claimed("b", "large")},
			want:      []string{"resourceslices/counters: allocated devices consume 45Gi of counter memory of card, which has 40Gi"},
		},
		"a slice that a client changed": {manifests: []string{counters, devices, claimed("a", "small"), claimed("b", "large")}, written: "resourceslices/counters"},
		"an incomplete pool":            {manifests: []string{counters, claimed("a", "small"), claimed("b", "large")}},
		"a slice that is newer": {manifests: []string{
			counters, devices, claimed("a", "small"), claimed("b", "large"),
			"kind: ResourceClaim\nmetadata: {name: c, creationTimestamp: 2025-01-01T00:00:00Z}\nstatus: {allocation: {devices: {results: [{driver: gpu.example.com, pool: node-a, device: x}]}}}",
		}},
		"the capacity suffices": {manifests: []string{counters, devices, claimed("a", fmt.Sprintf(half, "x"))}},
		"the capacity does not suffice": { // the sum is more than an int64 has
			manifests: []string{counters, devices, claimed("a", fmt.Sprintf(half, "x")), claimed("b", fmt.Sprintf(half, "y"))},
			want:      []string{"resourceslices/devices: claims consume 8Ei of capacity memory of device shared, which has 7Ei"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, test.manifests...)
			s.Written[test.written] = true
			if diff := cmp.Diff(test.want, breachesOf(s, ownsDevices)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfiguresOwn(t *testing.T) {
	claim := func(requests, config string) []string {
		return []string{fmt.Sprintf("kind: ResourceClaim\nmetadata: {name: one}\nspec: {devices: {requests: [%s]}}\nstatus: {allocation: {devices: {config: [%s]}}}", requests, config)}
	}
	const two = "{name: a, exactly: {deviceClassName: a}}, {name: b, exactly: {deviceClassName: b}}"
	judge(t, configuresOwn, map[string]judged{
		"of a class, for no request": {claim(two, "{source: FromClass}"), []string{"resourceclaims/default/one: status.allocation.devices.config[0] is of a class, and names no request of 2 classes"}},
		"of a class, for a request":  {manifests: claim(two, "{source: FromClass, requests: [a]}")},
		"of the claim":               {manifests: claim(two, "{source: FromClaim}")},
		"of one class":               {manifests: claim("{name: a, exactly: {deviceClassName: a}}, {name: b, exactly: {deviceClassName: a}}", "{source: FromClass}")},
		"one request":                {manifests: claim("{name: a}", "{source: FromClass}")},
		"it has no devices":          {manifests: []string{"kind: ResourceClaim\nmetadata: {name: one}\nspec: {devices: {requests: [" + two + "]}}"}},
	})
}

func TestNamesDevices(t *testing.T) {
	slice := func(device string) []string {
		return []string{"kind: ResourceSlice\nmetadata: {name: one}\nspec: {devices: [{name: dev, " + device + "}]}"}
	}
	wrong := []string{"resourceslices/one: device dev has a/b/c"}
	judge(t, namesDevices, map[string]judged{
		"attributes":      {manifests: slice("attributes: {model: {string: a}, example.com/model: {string: a}}")},
		"a bad attribute": {slice("attributes: {a/b/c: {string: a}}"), wrong},
		"a bad capacity":  {slice("capacity: {a/b/c: {value: 1}}"), wrong},
	})
}
