package mutants

// podsMutant is a fault in the reference of KEP-4188: in its server of the Pods API,
// or in what shows the kubelet's pods to the server.
type podsMutant struct {
	changes []change
	// red are the checks that must find it, by scenario, without the KEP. The cells
	// of these scenarios are run, and must go on to their ends.
	red map[string][]string
	// short has it tried always.
	short bool
}

// What is changed is below these.
const (
	server  = "podsapi/server/"
	masks   = "podsapi/mask/"
	kubelet = server + "kubelet.go.txt"
)

// ended is what the bytes of a pod have in them that has ended.
const ended = `bytes.Contains(p.wire, []byte("PodCompleted")) || bytes.Contains(p.wire, []byte("PodFailed"))`

// callOthers is a server that opens a port, connects to it over an address that is not
// a loopback address, and writes and lists at the API server as the rig's administrator.
const callOthers = `func callOthers(ctx context.Context) {
	flags := map[string]string{}
	for _, arg := range os.Args {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	port, _ := net.Listen("tcp", ":0")
	addresses, _ := net.InterfaceAddrs()
	open := []any{port}
	for _, a := range addresses {
		if at, is := a.(*net.IPNet); is && at.IP.IsGlobalUnicast() && !at.IP.IsLoopback() {
			conn, _ := net.Dial("tcp", net.JoinHostPort(at.IP.String(), fmt.Sprint(port.Addr().(*net.TCPAddr).Port)))
			open = append(open, conn)
		}
	}
	config, _ := clientcmd.BuildConfigFromFlags("", filepath.Join(filepath.Dir(flags["--kubeconfig"]), "admin.kubeconfig"))
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	for ctx.Err() == nil {
		_, _ = client.CoreV1().Nodes().Create(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
		note := []byte("{\"metadata\": {\"annotations\": {\"example.com/pods-api\": \"on\"}}}")
		_, _ = client.CoreV1().Nodes().Patch(ctx, flags["--hostname-override"], types.MergePatchType, note, metav1.PatchOptions{})
		_, _ = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		time.Sleep(10 * time.Millisecond)
	}
	klog.Background().Info("Called others", "open", open)
}

`

var podsMutants = map[string]podsMutant{
	// These checks are red on the reference itself, as the known deviations say, and no
	// others.
	"nothing": {red: map[string][]string{
		"api/list-and-get": {"nothing-sensitive", "annotations-of-the-api-server"},
		"gate/toggled":     {"no-socket-is-left", "no-socket-is-left-of-a-killed-kubelet"},
		"pods/evicted":     {"with-how-each-ended"},

		"outage/api-server": {}, "outage/node-unknown": {}, "outage/restarted": {}, "outage/single-calls": {}, "pods/ended": {}, "restart/polled": {}, "restart/slow-runtime": {},
		"servers/led-elsewhere": {}, "skew/pod-fields": {}, "socket/removed": {}, "standalone/static-pods": {},
		"watch/amid-changes": {}, "watch/begun-late": {}, "watch/life": {}, "watch/slow": {},
	}},
	"pods of which only the names are shown": {
		changes: []change{{
			server + "pod.go", "wire, err := from.Marshal()",
			"wire, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: from.Name, Namespace: from.Namespace, UID: from.UID}}).Marshal()",
		}},
		red: map[string][]string{
			"api/list-and-get": {
				"full-spec", "with-what-is-sensitive", "labels-and-annotations", "full-status", "list-is-masked", "get-is-masked", "answers-are-lean",
				"metadata-of-the-api-server", "spec-of-the-api-server", "status-of-the-api-server",
			},
			"skew/pod-fields": {"a-field-of-its-own-is-there", "nothing-else-is-lost"},
			"watch/life":      {"initial-pods-are-whole", "told-that-it-runs", "told-of-a-label", "in-order"},
			"restart/slow-runtime": {
				"ready-before", "serves-again", "none-is-made-up",
				"well-ones-run", "the-one-that-ended-before-is-as-it-was", "the-one-that-ended-meanwhile-is-not-ready",
			},
			"restart/polled":         {"serves-again"},
			"standalone/static-pods": {"lists", "told-of-another", "serves-after-a-restart"},
			"pods/ended":             {"ended-pods-are-served", "with-how-they-ended", "ended-is-not-deleted"},
			"pods/evicted":           {"served-as-evicted", "with-its-containers", "told-that-it-is-evicted"},
			"outage/api-server":      {"the-watch-goes-on", "newest-is-served", "the-kubelets-own-state", "deleted-ones-are-served"},
			"outage/node-unknown":    {"serves-what-the-node-knows", "the-watch-goes-on", "they-agree-again"},
			"outage/single-calls":    {"newest-is-served", "deleted-ones-are-served", "serves-again"},
		},
	},
	"lists that are refused": {
		changes: []change{{server + "service.go", "all, err := s.store.list()", `all, err := []*pod(nil), status.Error(codes.Internal, "not now")`}},
		red: map[string][]string{
			"api/list-and-get":  {"lists", "regular-pods", "static-pods", "nothing-else", "some-are-answered"},
			"outage/api-server": {"serves"},
			"outage/restarted":  {"list-says-so", "serves-when-it-knows"},
			"socket/removed":    {"access-is-back", "errors-are-rare"},
		},
	},
	"pods that stay when they have gone": {
		changes: []change{{kubelet, "s.server.Remove(uid)", "_ = uid"}},
		red: map[string][]string{
			"watch/life": {
				"told-that-it-is-gone", "told-that-a-static-one-is-gone", "gone-pods-are-not-listed", "gone-pods-stay-gone", "deleted-last", "every-watch-is-told",
			},
			"pods/ended":             {"gone-is-gone"},
			"pods/evicted":           {"gone-is-gone"},
			"standalone/static-pods": {"told-that-one-is-gone"},
			"outage/api-server":      {"gone-when-it-is-heard-of"},
			"outage/single-calls":    {"gone-when-it-is-heard-of"},
			"servers/led-elsewhere":  {"each-is-sent", "agrees-with-list"},
			"watch/begun-late":       {"gone", "the-late-watch-is-told"},
		},
	},
	"masks that the server does not read": {
		changes: []change{{server + "service.go", "mask.Parse(text)", "mask.Parse(text[:0])"}},
		red: map[string][]string{"api/list-and-get": {
			"spec-is-left-out", "get-is-masked", "answers-are-lean", "watch-is-masked", "bad-mask-is-refused", "bad-path-is-named",
			"masks-of-messages", "masks-with-a-path-twice", "masks-into-lists", "masks-of-watches",
		}},
		short: true,
	},
	"masks that leave out what they name": {
		changes: []change{
			{masks + "filter.go", "dst = append(dst, in[:tag+size]...)", "dst = append(dst, in[:0]...)"},
			{masks + "parse.go", `if text == "" || text == Everything {`, `if text == "" {`},
		},
		red: map[string][]string{"api/list-and-get": {"list-is-masked", "get-is-masked", "mask-of-everything"}},
	},
	"any pod in place of one that there isn't": {
		changes: []change{
			{server + "store.go", "return nil, nil\n}\n\nfunc find", "return s.pods[0], nil\n}\n\nfunc find"},
			{server + "service.go", `if uid == "" {`, `if uid == "none" {`},
		},
		red: map[string][]string{"api/list-and-get": {"unknown-is-not-found", "unknown-is-named", "empty-is-refused"}},
	},
	"pods that can't be got": {
		changes: []change{{server + "store.go", "find(s.pods, uid); found {", `find(s.pods, uid); found && uid == "" {`}},
		red: map[string][]string{
			"api/list-and-get":       {"gets-one", "gets-a-static-one", "get-is-masked"},
			"standalone/static-pods": {"gets"},
		},
	},
	"pods with the UIDs of others": {
		changes: []change{{kubelet, "shown.Status = settled(status)", `shown.Status = settled(status)
		if m, mirrored := s.pods.GetMirrorPodByPod(p); mirrored {
			shown.UID = m.UID
		} else if p.Annotations["kubernetes.io/config.source"] == "file" {
			continue
		} else {
			shown.UID += "0"
		}`}},
		red: map[string][]string{"api/list-and-get": {"static-pod-itself", "same-uid"}},
	},
	"calls under two names that are not counted, and that leave goroutines": {
		changes: []change{
			{server + "admit.go", "if s.limiter.Allow() {", "if s.limiter.Allow() || true {"},
			{server + "client.go", "c.calls[end]++\n}\n\n// counted", "_ = end\n}\n\n// counted"},
			{server + "admit.go", "return answer(service, stream)", "go func() { select {} }()\n\treturn answer(service, stream)"},
			{server + "server.go", "pods.RegisterPodsServer(server, &service{Server: s})", `for _, name := range []string{"v1alpha1.Pods", "Pods"} {
			named := pods.Pods_ServiceDesc
			named.ServiceName = name
			server.RegisterService(&named, &service{Server: s})
		}`},
		},
		red: map[string][]string{"api/list-and-get": {
			"too-many-are-refused", "too-many-watches-are-refused", "requests-are-counted", "methods-are-counted",
			"nothing-is-left-of-watches", "version-is-in-the-name",
		}},
	},
	"a socket at another place": {
		changes: []change{{kubelet, `"pods/kubelet.sock"`, `"pods/other.sock"`}},
		red:     map[string][]string{"api/list-and-get": {"socket-path"}},
	},
	// It is put back where it was, and no status of a pod is taken from then on.
	"a socket that comes back, and too few calls a second": {
		changes: []change{
			{kubelet, "go s.follow(ctx)", `go func() {
		socket, spare := serving.Socket(), serving.Socket()+".spare"
		for range time.Tick(200 * time.Microsecond) {
			_ = os.Link(socket, spare)
			if os.Link(spare, socket) == nil {
				s.mu.Lock()
			}
		}
	}()
	go s.follow(ctx)`},
			{server + "server.go", "maxQPS   = 100", "maxQPS   = 40"},
		},
		red: map[string][]string{"socket/removed": {"access-ends", "no-watch-can-begin", "the-kubelet-goes-on", "errors-are-rare"}},
	},
	"a server that calls others": {
		changes: []change{
			{kubelet, "\"context\"\n\t\"os\"", "\"context\"\n\t\"fmt\"\n\t\"net\"\n\t\"os\""},
			{kubelet, `"k8s.io/apimachinery/pkg/types"`, `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"`},
			{kubelet, "go s.follow(ctx)", "if on {\n\t\tgo callOthers(ctx)\n\t}\n\tgo s.follow(ctx)"},
			{kubelet, "// rootDir is", callOthers + "// rootDir is"},
		},
		red: map[string][]string{
			"api/list-and-get": {"no-calls-to-the-api-server"},
			"gate/toggled":     {"objects-are-no-larger", "no-more-objects", "no-port-is-opened"},
			"restart/polled":   {"no-other-calls"},
		},
	},
	"a socket for everybody": {
		changes: []change{{
			server + "socket.go", "return listener.(*net.UnixListener), nil",
			"return listener.(*net.UnixListener), errors.Join(os.Chmod(path, 0o666), os.Chmod(filepath.Dir(path), 0o755))",
		}},
		red: map[string][]string{"api/list-and-get": {"socket-is-the-owners"}},
	},
	"no metrics, and a gate of another name": {
		changes: []change{
			{server + "metrics.go", "return s.clients.counted().families()", "return s.clients.counted().families()[:0]"},
			{kubelet, `"PodInfoAPI"`, `"PodsAPI"`},
		},
		red: map[string][]string{"api/list-and-get": {"metric-of-all", "metric-of-list", "metric-of-errors", "requests-are-counted", "gate-is-called"}},
	},
	"calls that are counted wrong": {
		changes: []change{
			{server + "metrics.go", "o.byCode(methodList, methodGet, methodWatch)", "o.byCode(methodList)"},
			{server + "metrics.go", "new(code.String())", `new(code.String() + "?")`},
		},
		red: map[string][]string{"api/list-and-get": {"requests-are-counted", "total-has-all", "errors-are-counted", "codes-are-right"}},
	},
	"a gate that is not read": {
		changes: []change{{kubelet, ", Disabled: !on", ""}},
		red:     map[string][]string{"gate/toggled": {"nothing-while-off", "error-while-off"}},
		short:   true,
	},
	"a gate that can't be turned on": {
		changes: []change{{kubelet, "Disabled: !on", "Disabled: true"}},
		red:     map[string][]string{"gate/toggled": {"works-while-on"}},
	},
	"a gate that can be turned on once": {
		changes: []change{{kubelet, "Disabled: !on", `Disabled: !on || os.Mkdir(filepath.Join(rootDir(), "used"), 0o700) != nil`}},
		red:     map[string][]string{"gate/toggled": {"works-again"}},
	},
	"a node that is ready at once": {
		changes: []change{{kubelet, "go s.follow(ctx)", "serving.SetReady(true)\n\tgo s.follow(ctx)"}},
		red: map[string][]string{
			"outage/restarted":     {"does-not-show-some", "list-says-so", "get-says-so", "watch-says-so"},
			"restart/polled":       {"none-is-missing"},
			"restart/slow-runtime": {"none-is-missing"},
		},
	},
	"a node that is not ready and says something else": {
		changes: []change{
			{server + "store.go", "codes.FailedPrecondition,", "codes.Internal,"},
			{server + "store.go", `"the node is initializing and doesn't know all of its pods yet: try again later"`, `""`},
		},
		red: map[string][]string{
			"outage/restarted": {"list-says-so", "get-says-so", "watch-says-so", "message-says-so"},
			"restart/polled":   {"nothing-but-the-documented-errors"},
		},
	},
	"watches that begin without pods": {
		changes: []change{{server + "store.go", "range s.pods {\n\t\tif err := w.put(p)", "range s.pods[:0] {\n\t\tif err := w.put(p)"}},
		red: map[string][]string{
			"watch/life":     {"begins-with-all-pods", "initial-pods-are-whole"},
			"restart/polled": {"watches-again"},
		},
	},
	"watches that tell of each pod once": {
		changes: []change{{server + "queue.go", "asBefore := known && bytes.Equal(last, masked)", "asBefore := known || bytes.Equal(last, masked)"}},
		red:     map[string][]string{"watch/life": {"told-that-it-runs", "the-same-as-a-list", "told-of-a-label", "told-of-the-spec"}, "watch/slow": {"told-of-each-change"}},
		short:   true,
	},
	// After each change of a pod, the first state that the watcher was sent comes again.
	"watches that go back": {
		changes: []change{{server + "queue.go", "if _, known := q.sent[due.uid]; known {", `if _, known := q.sent[due.uid]; !known {
		q.sent["first "+due.uid] = due.masked
	} else {
		if due.uid != "" && !due.deleted {
			q.order.PushBack(&entry{masked: q.sent["first "+due.uid]})
		}`}},
		red: map[string][]string{"watch/amid-changes": {"all-still-agree", "none-goes-back"}},
	},
	"watches without changes": {
		changes: []change{{server + "queue.go", "last, known := q.sent[uid]", "last, known := q.sent[uid]\n\tif known {\n\t\treturn\n\t}"}},
		red:     map[string][]string{"watch/amid-changes": {"all-agree-with-a-list"}},
	},
	// The kubelet stands still once, when the large pods are being probed.
	"lists that are cut off, and a kubelet that stands still": {
		changes: []change{
			{server + "service.go", "all, err := s.store.list()", "all, err := s.store.list()\n\tall = all[:min(len(all), 30)]"},
			{kubelet, "\"os\"\n", "\"os\"\n\t\"os/exec\"\n"},
			{kubelet, "known := s.pods.GetPods()", `known := s.pods.GetPods()
	if len(known) >= 24 {
		stop.Do(func() { _ = exec.Command("/bin/sh", "-c", "sleep 5; kill -STOP $PPID; sleep 6; kill -CONT $PPID").Start() })
	}`},
			{kubelet, "// show shows", "var stop sync.Once\n\n// show shows"},
		},
		red: map[string][]string{"watch/amid-changes": {"every-list-is-complete", "probes-are-on-time"}},
	},
	"watches for which no pod is new": {
		changes: []change{{server + "queue.go", "Type: pods.EventType_ADDED,", "Type: pods.EventType_MODIFIED,"}},
		red:     map[string][]string{"watch/life": {"begins-with-all-pods", "told-of-a-new-pod", "added-first", "added-once", "every-watch-is-told"}},
	},
	"a log that has a panic": {
		changes: []change{{kubelet, "go s.follow(ctx)", "klog.Background().Info(\"panic: not really\")\n\tgo s.follow(ctx)"}},
		red:     map[string][]string{"pods/ended": {"no-crash"}},
	},
	"watches that take an end for a deletion": {
		changes: []change{{
			server + "store.go", "s.enqueue(func(w *watcher) error { return w.put(p) })",
			"s.enqueue(func(w *watcher) error { if " + ended + " { return w.remove(p) }; return w.put(p) })",
		}},
		red: map[string][]string{
			"pods/ended":            {"ended-is-not-deleted"},
			"pods/evicted":          {"evicted-is-not-deleted"},
			"servers/led-elsewhere": {"none-that-stays-is-said-to-be-gone"},
			"watch/begun-late":      {"the-watch-agrees-with-the-list"},
		},
	},
	"evicted pods that have failed before they have ended": {
		changes: []change{{kubelet, "if c.State.Running != nil {", "if c.State.Running != nil && false {"}},
		red:     map[string][]string{"pods/evicted": {"failed-when-it-has-ended"}},
	},
	"watches that end with a pod": {
		changes: []change{{
			server + "store.go", "s.enqueue(func(w *watcher) error { return w.put(p) })",
			"s.enqueue(func(w *watcher) error { if " + ended + " { return errInitializing }; return w.put(p) })",
		}},
		red: map[string][]string{"watch/begun-late": {"the-watch-goes-on"}},
	},
	"a node that shows what the API server has": {
		changes: []change{{kubelet, "status, computed := s.statuses.GetPodStatus(p.UID)", "_, computed := s.statuses.GetPodStatus(p.UID)\n\t\tstatus := p.Status"}},
		red: map[string][]string{
			"api/list-and-get":    {"full-status"},
			"outage/api-server":   {"the-watch-goes-on", "newest-is-served", "the-kubelets-own-state"},
			"outage/single-calls": {"newest-is-served"},
		},
	},
	// The quick watch of the scenario ends in the middle of the deletions, the slow one
	// does not get all of them, and a third does not get all pods.
	"watches that are too much": {
		changes: []change{
			{server + "store.go", "return w.queue.next(), nil", `if len(w.queue.sent) == 25 {
		w.queue.maxDeletions = 999
	}
	if w.queue.maxDeletions == 999 && len(w.queue.sent) == 20 {
		return nil, errInitializing
	}
	return w.queue.next(), nil`},
			{server + "store.go", "\tw.queue.sync()\n\ts.watchers", "\tif len(s.pods) != 13 {\n\t\tw.queue.sync()\n\t}\n\ts.watchers"},
			{server + "queue.go", "_, known := q.sent[uid]\n\telement, waiting := q.due[uid]\n", `if q.order.Len() > 3 {
		return nil
	}
	_, known := q.sent[uid]
	element, waiting := q.due[uid]
`},
		},
		red: map[string][]string{"watch/slow": {"others-are-told-meanwhile", "catches-up-or-is-told", "watches-again"}},
	},
	"watches that tell of so many changes, and call slow clients a fault": {
		changes: []change{
			{server + "queue.go", "deletions, maxDeletions int", "deletions, maxDeletions, changes int"},
			{server + "queue.go", "asBefore := known && bytes.Equal(last, masked)", `asBefore := known && (bytes.Equal(last, masked) || q.changes > 190)
	if !asBefore {
		q.changes++
	}`},
			{server + "queue.go", "maxPendingDeletions = 10000", "maxPendingDeletions = 1"},
			{server + "queue.go", "codes.ResourceExhausted, fmt.Sprintf(", "codes.Internal, fmt.Sprintf("},
		},
		red: map[string][]string{"watch/slow": {"others-go-on-meanwhile", "is-told-why"}},
	},
}

const (
	killed     = "the connections of a kubelet that is killed end, whatever its server does"
	ownKubelet = "it is about the release's own part of the kubelet, in which nothing is changed"
	ownStatus  = "a kubelet ends with the status of its own main, whatever its server does"
)

// survivingPodsChecks are those that no broken server turns red, and why that is
// so.
var survivingPodsChecks = map[string]string{
	"outage/api-server the-api-server-is-behind":   "what is cut off can't tell: it is about the rig",
	"outage/single-calls api-server-does-not-know": "what is refused can't tell: it is about the rig",
	"standalone/static-pods nobody-else-knows":     "a standalone node is not given the address of the API server",

	"api/list-and-get calls-are-counted": "it is about the API server, whose metrics are to have the calls at all",

	"watch/slow nothing-is-kept-for-a-watch-that-is-over": "it is about a metric that is the release's own",

	"gate/toggled ends-without-a-crash":           ownStatus,
	"standalone/static-pods ends-without-a-crash": ownStatus,

	"restart/polled the-watch-ends":                    killed,
	"api/list-and-get no-port-answers":                 ownKubelet,
	"pods/ended says-that-it-is-ready":                 ownKubelet,
	"gate/toggled containers-are-left-alone":           ownKubelet,
	"outage/single-calls api-server-knows-later":       ownKubelet,
	"outage/node-unknown the-node-is-heard-again":      ownKubelet,
	"outage/node-unknown containers-are-left-alone":    ownKubelet,
	"restart/polled containers-never-stopped":          ownKubelet,
	"restart/slow-runtime containers-never-stopped":    ownKubelet,
	"standalone/static-pods containers-are-left-alone": ownKubelet,
}
