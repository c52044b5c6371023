package rest

import (
	"fmt"
	"strings"
	"testing"
)

// endpointSlice is one of the Service web, of the controller.
func endpointSlice(name string, endpoints ...string) string {
	return manifest("EndpointSlice", name, "labels: {kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}",
		"addressType: IPv4\nendpoints: ["+strings.Join(endpoints, ", ")+"]")
}

// endpoint is one of a pod.
func endpoint(pod string, ready bool) string {
	return fmt.Sprintf("{addresses: [240.0.0.2], targetRef: {kind: Pod, name: %s, uid: Pod/%s}, conditions: {ready: %t, terminating: false}}", pod, pod, ready)
}

func TestRoutesToPods(t *testing.T) {
	service := func(meta, spec string) string {
		return manifest("Service", "web", meta, "spec: {selector: {app: web}, "+spec+"}")
	}
	pod := func(name, meta, status string) string {
		return manifest("Pod", name, "labels: {app: web}, "+meta, "status: {podIP: 240.0.0.2, "+status+"}")
	}
	selecting := func(labels string) string { return strings.Replace(service("", ""), "{app: web}", labels, 1) }
	one, two := pod("one", "", isReady), pod("two", "", isUnready)
	both := []string{service("", ""), one, two}
	readyOne, unreadyTwo := endpoint("one", true), endpoint("two", false)
	right := endpointSlice("web-1", readyOne, unreadyTwo)
	const key = "services/default/web: "
	missing, allMissing := []string{key + "pod two is missing"}, []string{key + "pod one is missing; pod two is missing"}
	unlike := func(pod string, ready bool) []string {
		return []string{fmt.Sprintf("%spod %s has ready: %t, and its condition Ready is %t", key, pod, ready, !ready)}
	}
	going := pod("two", isGoing, isReady)
	at := func(address string) string { return strings.Replace(two, "240.0.0.2", address, 1) }
	terminating := strings.Replace(unreadyTwo, "terminating: false", "terminating: true", 1)
	older := strings.Replace(unreadyTwo, "Pod/two", "old", 1)
	more := endpointSlice("web-2", endpoint("old", true))
	others := func(name string) []string { return []string{key + "pod " + name + " is not one of its"} }

	judge(t, routesToPods, map[string]judged{
		"it is right":                 {manifests: with(both, right)},
		"in two slices":               {manifests: with(both, endpointSlice("web-1", readyOne), endpointSlice("web-2", unreadyTwo))},
		"it has no pods and no slice": {manifests: []string{service("", "")}},
		"a pod is missing":            {with(both, endpointSlice("web-1", readyOne)), missing},
		"all are missing":             {both, allMissing},
		"a pod is not ready":          {with(both, endpointSlice("web-1", readyOne, endpoint("two", true))), unlike("two", true)},
		"a pod is ready":              {with(both, endpointSlice("web-1", endpoint("one", false), unreadyTwo)), unlike("one", false)},
		"a pod too many":              {with(both, right, more), others("old of UID Pod/old")},
		"an older pod of its name":    {with(both, endpointSlice("web-1", readyOne, older)), []string{key + "pod two is missing; pod two of UID old is not one of its"}},
		"it does not select a pod":    {[]string{selecting("{app: other}"), right, one, two}, []string{key + "pod one is not one of its; pod two is not one of its"}},
		"a pod elsewhere":             {manifests: []string{service("", ""), one, pod("two", "namespace: other", isReady), endpointSlice("web-1", readyOne)}},

		"a pod goes":                      {manifests: []string{service("", ""), one, going, endpointSlice("web-1", readyOne, terminating)}},
		"a pod that goes is left out":     {manifests: []string{service("", ""), one, going, endpointSlice("web-1", readyOne)}},
		"a pod goes, which is not said":   {[]string{service("", ""), one, going, right}, others("two")},
		"a pod has ended":                 {manifests: []string{service("", ""), one, pod("two", "", hasFailed), endpointSlice("web-1", readyOne)}},
		"a pod has ended, and is a part":  {[]string{service("", ""), one, pod("two", "", hasFailed), right}, others("two")},
		"a pod without an address":        {manifests: []string{service("", ""), one, at(""), endpointSlice("web-1", readyOne)}},
		"an address that no slice takes":  {manifests: []string{service("", ""), one, at("127.0.0.2"), endpointSlice("web-1", readyOne)}},
		"slices of another Service":       {with(both, strings.Replace(right, "service-name: web", "service-name: other", 1)), allMissing},
		"slices of another namespace":     {with(both, strings.Replace(right, "{name: web-1", "{namespace: other, name: web-1", 1)), allMissing},
		"slices of a client":              {manifests: with(both, right, strings.Replace(more, "endpointslice-controller.k8s.io", "me", 1))},
		"names of hosts in another slice": {manifests: with(both, right, strings.Replace(more, "IPv4", "FQDN", 1))},
		"an address of no pod":            {manifests: with(both, right, endpointSlice("web-2", "{addresses: [192.0.2.1], conditions: {ready: true}}"))},

		"it selects nothing":              {manifests: []string{selecting("{}"), one, right}},
		"it has a name elsewhere":         {manifests: []string{service("", "type: ExternalName, externalName: example.com"), one, two}},
		"it has no address of its own":    {[]string{service("", "clusterIP: None"), one, two, endpointSlice("web-1", readyOne)}, missing},
		"it goes":                         {manifests: []string{service(isGoing, ""), one, two}},
		"it has those that are not ready": {manifests: []string{service("", "publishNotReadyAddresses: true"), one, endpointSlice("web-1", endpoint("one", true), endpoint("two", true))}},
	})
}

// TestWarnsOfNothing: Events are in a record, and not among its objects.
func TestWarnsOfNothing(t *testing.T) {
	t.Parallel()
	event := func(kind, reason, message string) string {
		about := "involvedObject: {kind: Service, namespace: default, name: web}"
		return manifest("Event", "web.1", "", fmt.Sprintf("%s\ntype: %s\nreason: %s\nmessage: %s", about, kind, reason, message))
	}
	const message = `'Error deleting EndpointSlice web-1: endpointslices "web-1" not found'`
	for name, test := range map[string]struct {
		event string
		is    bool
	}{
		"it is gone already":         {event("Warning", "FailedToDelete", message), true},
		"as the API server says it":  {event("Warning", "FailedDelete", strings.ToUpper(message)), true},
		"it is no warning":           {event("Normal", "Deleted", message), false},
		"it can't be made":           {event("Warning", "FailedToCreate", `'Error creating EndpointSlice: namespaces "default" not found'`), false},
		"it can't be deleted":        {event("Warning", "FailedToDelete", "'Error deleting EndpointSlice web-1: forbidden'"), false},
		"what a pod needs is absent": {event("Warning", "FailedMount", `'secret "kept" not found'`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := breachesOf(stateAfter(historyOf(t, test.event)), warnsOfNothing); len(got) > 0 != test.is {
				t.Errorf("got %v, want a breach: %t", got, test.is)
			}
		})
	}
}
