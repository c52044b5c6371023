package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// classOf is the class of the devices of a driver, with more of its spec.
func classOf(name, driver, more string) string {
	return manifest("DeviceClass", name, "", fmt.Sprintf("spec: {selectors: [{cel: {expression: 'device.driver == %q'}}], %s}", driver, more))
}

// sliceOf is all devices of a pool of gpu.example.com on a node, whose name it has, too.
func sliceOf(node string, devices ...string) string {
	return manifest("ResourceSlice", node, "", fmt.Sprintf("spec: {driver: gpu.example.com, nodeName: %s, pool: {name: %s, generation: 1, resourceSliceCount: 1}, devices: [%s]}", node, node, strings.Join(devices, ", ")))
}

// claimOf is a claim with a request for one device of the class gpu.
func claimOf(name, request, more string) string {
	return manifest("ResourceClaim", name, "", "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1, "+request+"}}], "+more+"}}")
}

// takenBy is a claim that has a device of node a.
func takenBy(name, device, more string) string {
	return manifest("ResourceClaim", name, "", "status: {allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: a, device: "+device+", "+more+"}]}}}")
}

func TestGetsDevices(t *testing.T) {
	a, class := nodeNamed("a", "", "", ""), classOf("gpu", "gpu.example.com", "")
	slice, claim := sliceOf("a", "{name: dev-0}"), claimOf("gpu", "", "")
	waiting := func(spec string) string {
		return podWaiting("", "resourceClaims: [{name: gpu, resourceClaimName: gpu}], "+spec)
	}
	pod := waiting("")
	of := func(name string) []string {
		return []string{"pods/default/new: device gpu.example.com/a/" + name + " on a is free: the scheduler says: no nodes"}
	}
	free := of("dev-0")
	asks := func(request string) []string { return []string{a, class, slice, claimOf("gpu", request, ""), pod} }
	on := func(devices ...string) []string { return []string{a, class, sliceOf("a", devices...), claim, pod} }
	needs := func(spec string) []string { return []string{a, class, slice, claim, waiting(spec)} }
	by := func(change func(string) string) []string { return []string{a, class, slice, claim, change(pod)} }
	replaced := func(old, new string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, new, 1) }
	}
	const tainted = "{name: dev-0, taints: [{key: broken, value: 'yes', effect: NoSchedule}]}"
	tolerating := func(toleration string) []string {
		return []string{a, class, sliceOf("a", tainted), claimOf("gpu", "tolerations: [{"+toleration+"}]", ""), pod}
	}

	extended := classOf("gpu", "gpu.example.com", "extendedResourceName: example.com/gpu")
	limited := func(name string, amount int) string {
		return fmt.Sprintf("[{name: app, resources: {limits: {%s: %d}, requests: {%s: %d}}}]", name, amount, name, amount)
	}
	byName := func(spec string) []string { return []string{a, extended, slice, podWaiting("", spec)} }

	// A device with 8Gi, of which there are several claims.
	shared := func(memory, more string) string {
		return "{name: dev-0, allowMultipleAllocations: true, capacity: {memory: {value: 8Gi, " + memory + "}, " + more + "}}"
	}
	sharedBy := func(device, asked string, taken ...string) []string {
		all := []string{a, class, sliceOf("a", device), claimOf("gpu", "capacity: {requests: {"+asked+"}}", ""), pod}
		for n, amount := range taken {
			all = append(all, takenBy(fmt.Sprintf("other-%d", n), "dev-0", "shareID: x, consumedCapacity: {"+amount+"}"))
		}
		return all
	}
	const policy = "requestPolicy: {default: 1Gi, %s}"

	judge(t, getsDevices, map[string]judged{
		"a device is free":              {needs(""), free},
		"it is taken":                   {manifests: append(needs(""), takenBy("other", "dev-0", ""))},
		"it is taken by administrators": {append(needs(""), takenBy("other", "dev-0", "adminAccess: true")), free},
		"another one is free":           {append(on("{name: dev-0}", "{name: dev-1}"), takenBy("other", "dev-0", "")), of("dev-1")},
		"there is none":                 {manifests: on()},
		"one of another driver":         {manifests: []string{a, class, strings.Replace(slice, "gpu.example.com", "net.example.com", 1), claim, pod}},
		"on all nodes":                  {manifests: []string{a, class, strings.Replace(slice, "nodeName: a", "allNodes: true", 1), claim, pod}},
		"of a pool that is not whole":   {manifests: []string{a, class, strings.Replace(slice, "resourceSliceCount: 1", "resourceSliceCount: 2", 1), claim, pod}},
		"of a pool of two generations":  {manifests: append(needs(""), strings.Replace(slice, "{name: a,", "{name: newer,", 1))},
		"with counters":                 {manifests: on("{name: dev-0, consumesCounters: [{counterSet: c}]}")},
		"with conditions":               {manifests: on("{name: dev-0, bindsToNode: true, bindingConditions: [ok], bindingFailureConditions: [bad]}")},

		"it is tainted":                   {manifests: on(tainted)},
		"it is tainted without an effect": {on(strings.Replace(tainted, "NoSchedule", "None", 1)), free},
		"its taint is tolerated":          {tolerating("key: broken, operator: Exists"), free},
		"its taint's value is tolerated":  {tolerating("key: broken, value: 'yes'"), free},
		"another value is tolerated":      {manifests: tolerating("key: broken, value: 'no'")},
		"another taint is tolerated":      {manifests: tolerating("key: other, operator: Exists")},
		"another effect is tolerated":     {manifests: tolerating("operator: Exists, effect: NoExecute")},
		"tolerated for some time":         {manifests: tolerating("operator: Exists, tolerationSeconds: 9")},

		"its node is not ready":        {manifests: append(needs("")[1:], strings.Replace(a, "'True'", "Unknown", 1))},
		"its node is gone":             {manifests: needs("")[1:]},
		"its node is cordoned":         {manifests: append(needs("")[1:], nodeNamed("a", "", "unschedulable: true", ""))},
		"its node is tainted":          {manifests: append(needs("")[1:], nodeNamed("a", "", "taints: [{key: k, effect: NoSchedule}]", ""))},
		"its node is full":             {manifests: needs(resources("cpu: '3'"))},
		"its node has room":            {needs(resources("cpu: '2'")), free},
		"its node has many pods":       {manifests: append(needs(""), podOn("a", "one", "", ""), podOn("a", "two", "", ""), podOn("a", "three", "", ""))},
		"its node's port is taken":     {manifests: append(needs("containers: [{name: app, ports: [{hostPort: 80}]}]"), podOn("a", "old", "", "containers: [{name: app, ports: [{hostPort: 80}]}]"))},
		"its node's pods keep it off":  {manifests: append(by(replaced("labels: {}", "labels: {app: web}")), podOn("a", "old", "", antiAffinityTo("web", "kubernetes.io/hostname", "")))},
		"its node is kept for another": {manifests: append(needs(""), manifest("Pod", "first", "", "spec: {schedulerName: mine}\nstatus: {nominatedNodeName: a, conditions: [{type: PodScheduled, status: 'False'}]}"))},

		"it was not looked at":       {manifests: by(replaced(refused, "status: {phase: Pending}"))},
		"it is gated":                {manifests: needs("schedulingGates: [{name: g}]")},
		"it goes":                    {manifests: by(replaced("{name: new", "{"+isGoing+", name: new"))},
		"it is scheduled":            {manifests: needs("nodeName: a")},
		"another scheduler has it":   {manifests: needs("schedulerName: mine")},
		"the default one has it":     {needs("schedulerName: default-scheduler"), free},
		"it selects nodes":           {manifests: needs("nodeSelector: {zone: east}")},
		"it has an affinity":         {manifests: needs("affinity: {nodeAffinity: {}}")},
		"it is spread":               {manifests: needs(spreadOver("zone", "{}", ""))},
		"it has a volume":            {manifests: needs("volumes: [{name: d, persistentVolumeClaim: {claimName: d}}]")},
		"it has a plain volume":      {needs("volumes: [{name: d, emptyDir: {}}]"), free},
		"it has a new field":         {manifests: needs("schedulingGroup: {podGroupName: g}")},
		"it has no claim":            {manifests: []string{a, class, slice, podWaiting("", "")}},
		"its claim is not there":     {manifests: []string{a, class, slice, pod}},
		"its claim is elsewhere":     {manifests: []string{a, class, slice, strings.Replace(claim, "{name: gpu,", "{namespace: other, name: gpu,", 1), pod}},
		"its claim has one":          {manifests: []string{a, class, slice, takenBy("gpu", "dev-1", ""), pod}},
		"its claim goes":             {manifests: []string{a, class, slice, strings.Replace(claim, "{name: gpu,", "{"+isGoing+", name: gpu,", 1), pod}},
		"its claim has a constraint": {manifests: []string{a, class, slice, claimOf("gpu", "", "constraints: [{matchAttribute: numa}]"), pod}},
		"a claim of a template":      {manifests: []string{a, class, slice, claim, podWaiting("", "resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]")}},
		"two claims":                 {manifests: []string{a, class, slice, claim, claimOf("more", "", ""), podWaiting("", "resourceClaims: [{name: gpu, resourceClaimName: gpu}, {name: more, resourceClaimName: more}]")}},
		"two devices":                {manifests: []string{a, class, slice, strings.Replace(claim, "count: 1", "count: 2", 1), pod}},
		"all devices":                {manifests: []string{a, class, slice, strings.Replace(claim, "ExactCount", "All", 1), pod}},
		"one of some requests":       {manifests: []string{a, class, slice, strings.Replace(claim, "exactly:", "firstAvailable:", 1), pod}},
		"a selector":                 {manifests: asks("selectors: [{cel: {expression: 'true'}}]")},
		"for an administrator":       {manifests: asks("adminAccess: true")},
		"no class":                   {manifests: []string{a, slice, claim, pod}},
		"a class of another kind":    {manifests: []string{a, strings.Replace(class, "device.driver ==", "device.driver !=", 1), slice, claim, pod}},
		"a class of two selectors":   {manifests: []string{a, strings.Replace(class, "selectors: [", "selectors: [{cel: {expression: 'true'}}, ", 1), slice, claim, pod}},

		"by the name of a resource":     {byName("containers: " + limited("example.com/gpu", 1)), free},
		"two by that name":              {manifests: byName("containers: " + limited("example.com/gpu", 2))},
		"by the name of another one":    {manifests: byName("containers: " + limited("example.com/net", 1))},
		"by two classes of that name":   {manifests: append(byName("containers: "+limited("example.com/gpu", 1)), classOf("newer", "gpu.example.com", "extendedResourceName: example.com/gpu"))},
		"for each container":            {manifests: byName("initContainers: " + limited("example.com/gpu", 1) + ", containers: " + limited("example.com/gpu", 1))},
		"by a name, and by a claim too": {manifests: []string{a, extended, slice, claim, waiting("containers: " + limited("example.com/gpu", 1))}},
		"other resources have no class": {needs("containers: [{name: app, resources: {limits: {memory: 1Gi}}}]"), free},

		"the rest is enough":              {sharedBy(shared("", ""), "memory: 3Gi", "memory: 4Gi", "memory: 1Gi"), free},
		"the rest is too little":          {manifests: sharedBy(shared("", ""), "memory: 3Gi", "memory: 4Gi", "memory: 2Gi")},
		"by its full name":                {sharedBy(shared("", ""), "gpu.example.com/memory: 3Gi", "gpu.example.com/memory: 5Gi"), free},
		"by its full name, too little":    {manifests: sharedBy(shared("", ""), "gpu.example.com/memory: 3Gi", "gpu.example.com/memory: 6Gi")},
		"of no such capacity":             {manifests: sharedBy(shared("", ""), "cores: 1")},
		"of one that is not shared":       {manifests: sharedBy("{name: dev-0, capacity: {memory: {value: 8Gi}}}", "memory: 1Gi")},
		"of none":                         {manifests: on(shared("", ""))},
		"it takes all cores":              {sharedBy(shared("", "cores: {value: 4}"), "memory: 1Gi"), free},
		"it takes all cores, some are so": {manifests: sharedBy(shared("", "cores: {value: 4}"), "memory: 1Gi", "memory: 1Gi, cores: 1")},
		"it takes one core":               {sharedBy(shared("", "cores: {value: 4, requestPolicy: {default: 1}}"), "memory: 1Gi", "memory: 1Gi, cores: 3"), free},
		"it takes one core too many":      {manifests: sharedBy(shared("", "cores: {value: 4, requestPolicy: {default: 1}}"), "memory: 1Gi", "memory: 1Gi, cores: 4")},
		"it takes at least so much":       {manifests: sharedBy(shared(fmt.Sprintf(policy, "validRange: {min: 1Gi}"), ""), "memory: 1Mi", "memory: 7.5Gi")},
		"it takes at least that":          {sharedBy(shared(fmt.Sprintf(policy, "validRange: {min: 1Gi}"), ""), "memory: 1Mi", "memory: 7Gi"), free},
		"it takes at most so much":        {manifests: sharedBy(shared(fmt.Sprintf(policy, "validRange: {min: 1Gi, max: 2Gi}"), ""), "memory: 3Gi")},
		"it takes steps":                  {manifests: sharedBy(shared(fmt.Sprintf(policy, "validRange: {min: 1Gi, step: 2Gi}"), ""), "memory: 2Gi")},
		"it takes what is valid":          {manifests: sharedBy(shared(fmt.Sprintf(policy, "validValues: [1Gi, 8Gi]"), ""), "memory: 2Gi")},
		"it takes anything":               {sharedBy(shared("requestPolicy: {}", ""), "memory: 2Gi", "memory: 6Gi"), free},
	})
}

// TestGetsDevicesWaits: a scheduler is given the time that it may need to look at a pod again.
func TestGetsDevicesWaits(t *testing.T) {
	t.Parallel()
	a, class := nodeNamed("a", "", "", ""), classOf("gpu", "gpu.example.com", "")
	slice, claim, other := sliceOf("a", "{name: dev-0}"), claimOf("gpu", "", ""), takenBy("other", "dev-0", "")
	pod := podWaiting("", "resourceClaims: [{name: gpu, resourceClaimName: gpu}]")
	old := podOn("a", "old", "", resources("cpu: '1'"))
	begin := []string{"90 " + a, "90 " + class, "80 " + claim}
	for name, test := range map[string]struct {
		then []string
		free bool
	}{
		"all was there before":      {[]string{"6 " + slice, "5 " + pod}, true},
		"devices came":              {[]string{"60 " + pod, "5 " + slice}, false},
		"devices came a while ago":  {[]string{"60 " + pod, "12 " + slice}, true},
		"a claim was deleted":       {[]string{"80 " + slice, "70 " + other, "60 " + pod, "5 gone " + other}, false},
		"a claim was given back":    {[]string{"80 " + slice, "70 " + other, "60 " + pod, "5 " + strings.Replace(other, "allocation: {", "old: {", 1)}, false},
		"a claim was taken":         {[]string{"80 " + sliceOf("a", "{name: dev-0}", "{name: dev-1}"), "70 " + claimOf("other", "", ""), "60 " + pod, "5 " + takenBy("other", "dev-1", "")}, true},
		"its claim came":            {[]string{"80 gone " + claim, "80 " + slice, "60 " + pod, "5 " + claim}, false},
		"a class came":              {[]string{"80 " + slice, "60 " + pod, "5 " + classOf("other", "net.example.com", "")}, false},
		"a pod is gone":             {[]string{"80 " + slice, "70 " + old, "60 " + pod, "5 gone " + old}, false},
		"a pod needs less":          {[]string{"80 " + slice, "70 " + old, "60 " + pod, "5 " + strings.Replace(old, "'1'", "'0.5'", 1)}, false},
		"a pod was gone before":     {[]string{"80 " + slice, "70 " + old, "6 gone " + old, "5 " + pod}, true},
		"a pod was placed":          {[]string{"80 " + slice, "60 " + pod, "5 " + old}, true},
		"a node is open":            {[]string{"80 " + nodeNamed("a", "", "unschedulable: true", ""), "80 " + slice, "60 " + pod, "5 " + a}, false},
		"a node is new":             {[]string{"80 " + slice, "60 " + pod, "5 " + nodeNamed("b", "", "", "")}, false},
		"a node sends a heartbeat":  {[]string{"80 " + slice, "60 " + pod, "5 " + strings.Replace(a, "status: 'True'", "status: 'True', lastHeartbeatTime: 2026-01-01T11:59:55Z", 1)}, true},
		"something else came":       {[]string{"80 " + slice, "60 " + pod, "5 kind: ConfigMap\nmetadata: {name: c}"}, true},
		"no scheduler runs":         {[]string{"80 kube-scheduler started", "80 " + slice, "60 " + pod, "50 kube-scheduler stopped"}, false},
		"a scheduler runs":          {[]string{"80 kube-scheduler started", "80 " + slice, "60 " + pod}, true},
		"it was there under a name": {[]string{"85 " + strings.Replace(pod, "{name: new", "{uid: old, name: new", 1), "6 " + slice, "5 " + pod}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := breachesOf(recorded(t, append(slices.Clone(begin), test.then...)...), getsDevices)
			if (len(got) > 0) != test.free {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestKeepsTolerant(t *testing.T) {
	t.Parallel()
	class := classOf("gpu", "gpu.example.com", "")
	sound := sliceOf("a", "{name: dev-0}")
	taint := func(effect string) string {
		return sliceOf("a", "{name: dev-0, taints: [{key: broken, value: 'yes', effect: "+effect+"}]}", "{name: dev-1}")
	}
	broken := taint("NoExecute")
	claim := func(tolerations string) string { return claimOf("gpu", "tolerations: ["+tolerations+"]", "") }
	all := claim("{key: broken, operator: Exists}")
	evicted := func(reason, more string) string {
		return manifest("Pod", "web", "", "spec: {resourceClaims: [{name: gpu, resourceClaimName: gpu}]}\n"+
			"status: {conditions: [{type: DisruptionTarget, status: 'True', reason: "+reason+", message: evicted}], "+more+"}")
	}
	const reason = "DeletionByDeviceTaintManager"
	pod := evicted(reason, "")
	breach := []string{"pods/default/web: condition DisruptionTarget: evicted"}
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"all effects are tolerated":       {[]any{class, broken, all, pod}, breach},
		"it is gone since":                {[]any{class, broken, all, pod, "gone " + pod}, breach},
		"it was written again":            {[]any{class, broken, all, pod, evicted(reason, "phase: Failed")}, breach},
		"another one of its name":         {[]any{class, broken, all, pod, "gone " + pod, strings.Replace(pod, "{name: web", "{uid: new, name: web", 1)}, append(breach, breach...)},
		"one effect is tolerated":         {[]any{class, broken, claim("{key: broken, operator: Exists, effect: NoExecute}"), pod}, breach},
		"everything is tolerated":         {[]any{class, broken, claim("{operator: Exists}"), pod}, breach},
		"nothing is tainted":              {[]any{class, sound, claim(""), pod}, breach},
		"a taint without an effect":       {[]any{class, taint("None"), claim(""), pod}, breach},
		"nothing is tolerated":            {entries: []any{class, broken, claim(""), pod}},
		"another taint is tolerated":      {entries: []any{class, broken, claim("{key: other, operator: Exists}"), pod}},
		"another value is tolerated":      {entries: []any{class, broken, claim("{key: broken, operator: Equal, value: 'no'}"), pod}},
		"another effect is tolerated":     {entries: []any{class, broken, claim("{key: broken, operator: Exists, effect: NoSchedule}"), pod}},
		"it is tolerated for a while":     {entries: []any{class, broken, claim("{operator: Exists, tolerationSeconds: 9}"), pod}},
		"the taint is taken off since":    {entries: []any{class, broken, claim(""), pod, sound}},
		"the slice is gone since":         {entries: []any{class, broken, claim(""), pod, "gone " + broken}},
		"the claim was made anew since":   {entries: []any{class, broken, claim(""), pod, "gone " + claim(""), all}},
		"the claim tolerated all then":    {[]any{class, broken, all, pod, "gone " + all}, breach},
		"the claim was gone before":       {entries: []any{class, broken, all, "gone " + all, pod}},
		"a rule taints devices":           {entries: []any{class, broken, all, "kind: DeviceTaintRule\nmetadata: {name: r}", pod}},
		"another driver's are tainted":    {[]any{class, strings.Replace(broken, "gpu.example.com", "net.example.com", 1), claim(""), pod}, breach},
		"the class is not known":          {entries: []any{broken, all, pod}},
		"the claim is not known":          {entries: []any{class, broken, pod}},
		"one of some requests":            {entries: []any{class, broken, strings.Replace(all, "exactly:", "firstAvailable:", 1), pod}},
		"a claim of a template":           {entries: []any{class, broken, all, strings.Replace(pod, "resourceClaimName", "resourceClaimTemplateName", 1)}},
		"it has an extended resource":     {entries: []any{class, broken, all, evicted(reason, "extendedResourceClaimStatus: {resourceClaimName: x}")}},
		"it has no claim":                 {entries: []any{class, broken, all, strings.Replace(pod, "resourceClaims", "volumes", 1)}},
		"it is evicted for something":     {entries: []any{class, broken, all, evicted("EvictionByEvictionAPI", "")}},
		"it is not evicted":               {entries: []any{class, broken, all, strings.Replace(pod, "DisruptionTarget", "Ready", 1)}},
		"a static pod, and other objects": {entries: []any{class, broken, all, strings.Replace(pod, "kind: Pod", "kind: ConfigMap", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), keepsTolerant)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
