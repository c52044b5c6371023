package rest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

const (
	keptSecret = "secrets/default/kept"
	keptConfig = "configmaps/default/kept"
)

// keeping is the state of a cluster with the Secret and the ConfigMap kept, and of the nodes a and b.
func keeping(t *testing.T, readable map[string][]string, more ...string) *State {
	t.Helper()
	const kept = "kind: Secret\nmetadata: {name: kept}\n---\nkind: ConfigMap\nmetadata: {name: kept}"
	s := stateOf(t, with(more, kept, nodeNamed("a", "", "", ""), nodeNamed("b", "", "", ""))...)
	s.Readable = readable
	return s
}

// reader is a pod on the node a.
func reader(meta, spec string) string {
	return manifest("Pod", "reader", meta, "spec: {nodeName: a, "+spec+"}")
}

func TestAccess(t *testing.T) {
	t.Parallel()
	const volume = "volumes: [{name: v, secret: {secretName: kept}}]"
	reads := []string{reader("", volume)}
	allowed := map[string][]string{"a": {keptSecret}}
	both, denied := map[string][]string{"a": {keptSecret}, "b": {keptSecret}}, map[string][]string{"a": {}}
	onB := strings.NewReplacer("name: reader", "name: other", "nodeName: a", "nodeName: b").Replace(reads[0])
	twice := strings.Replace(volume, "]", ", {name: w, secret: {secretName: kept}}]", 1)
	keeps, keepsB := []string{keptSecret + ": the kubelet of a may read it"}, []string{keptSecret + ": the kubelet of b may read it"}
	needs := []string{keptSecret + ": the kubelet of a may not read it"}
	keepsConfig := []string{keptConfig + ": the kubelet of a may read it"}
	for name, test := range map[string]struct {
		readable     map[string][]string
		pods         []string
		keeps, needs []string // the breaches of both laws
	}{
		"it needs and may":            {readable: allowed, pods: reads},
		"it needs and may not":        {readable: denied, pods: reads, needs: needs},
		"it does not need and may":    {readable: allowed, keeps: keeps},
		"it does not need and is not": {readable: denied},
		"it was not asked":            {pods: reads},
		"another node may":            {readable: both, pods: reads, keeps: keepsB},
		"only another node may":       {readable: map[string][]string{"a": {}, "b": {keptSecret}}, pods: reads, keeps: keepsB, needs: needs},
		"a pod on each node":          {readable: both, pods: []string{reads[0], onB}},
		"one pod refers twice":        {readable: allowed, pods: []string{reader("", twice)}},
		"a pod without a node":        {readable: allowed, pods: []string{strings.Replace(reads[0], "nodeName: a, ", "", 1)}, keeps: keeps},
		"a pod of another namespace":  {readable: allowed, pods: []string{reader("namespace: other", volume)}, keeps: keeps},
		"a pod refers to another one": {readable: allowed, pods: []string{reader("", strings.Replace(volume, "kept", "other", 1))}, keeps: keeps},
		"a ConfigMap of that name":    {readable: map[string][]string{"a": {keptSecret, keptConfig}}, pods: reads, keeps: keepsConfig},
		"a pod that has ended":        {readable: allowed, pods: []string{reads[0] + "\nstatus: {" + hasFailed + "}"}},
		"a pod that goes":             {readable: allowed, pods: []string{reader(isGoing, volume)}},
		"a volume may need it":        {readable: allowed, pods: []string{"kind: PersistentVolume\nmetadata: {name: v}"}},
		"a volume, and a pod needs":   {readable: denied, pods: with(reads, "kind: PersistentVolume\nmetadata: {name: v}"), needs: needs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := keeping(t, test.readable, test.pods...)
			if diff := cmp.Diff(test.keeps, breachesOf(s, keepsSecret)); diff != "" {
				t.Errorf("keepsSecret: %s", diff)
			}
			if diff := cmp.Diff(test.needs, breachesOf(s, readsNeeded)); diff != "" {
				t.Errorf("readsNeeded: %s", diff)
			}
		})
	}
}

// TestRefers has the fields by which a pod refers to a Secret or a ConfigMap, and those by which it does not.
func TestRefers(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string][]string{
		"imagePullSecrets: [{name: kept}]":                                                              {keptSecret},
		"volumes: [{name: v, secret: {secretName: kept, items: [{key: k, path: p}]}}]":                  {keptSecret},
		"volumes: [{name: v, secret: {secretName: kept, optional: true}}]":                              {keptSecret},
		"volumes: [{name: v, azureFile: {secretName: kept, shareName: s}}]":                             {keptSecret},
		"volumes: [{name: v, cephfs: {secretRef: {name: kept}}}]":                                       {keptSecret},
		"volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: kept}}}]":                    {keptSecret},
		"volumes: [{name: v, projected: {sources: [{secret: {name: kept}}]}}]":                          {keptSecret},
		"containers: [{name: app, env: [{name: A, valueFrom: {secretKeyRef: {name: kept, key: k}}}]}]":  {keptSecret},
		"containers: [{name: app, envFrom: [{secretRef: {name: kept}}]}]":                               {keptSecret},
		"initContainers: [{name: init, envFrom: [{secretRef: {name: kept}}]}]":                          {keptSecret},
		"ephemeralContainers: [{name: look, envFrom: [{secretRef: {name: kept}}]}]":                     {keptSecret},
		"volumes: [{name: v, configMap: {name: kept}}]":                                                 {keptConfig},
		"volumes: [{name: v, projected: {sources: [{configMap: {name: kept}}]}}]":                       {keptConfig},
		"containers: [{name: a, env: [{name: A, valueFrom: {configMapKeyRef: {name: kept, key: k}}}]}]": {keptConfig},
		"containers: [{name: app, envFrom: [{configMapRef: {name: kept}}]}]":                            {keptConfig},
		"volumes: [{name: v, projected: {sources: [{secret: {name: kept}}, {configMap: {name: kept}}]}}]": {
			keptConfig, keptSecret,
		},
		"":                                      nil,
		"volumes: [{name: kept, emptyDir: {}}]": nil,
		"volumes: [{name: kept, secret: {secretName: other}}]":                             nil,
		"volumes: [{name: v, persistentVolumeClaim: {claimName: kept}}]":                   nil,
		"volumes: [{name: v, projected: {sources: [{clusterTrustBundle: {name: kept}}]}}]": nil,
		"containers: [{name: kept, env: [{name: kept, value: kept}]}]":                     nil,
		"serviceAccountName: kept":                                                         nil,
		"resourceClaims: [{name: kept, resourceClaimName: kept}]":                          nil,
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			var all []string
			for _, key := range want {
				all = append(all, key+": the kubelet of a may not read it")
			}
			if diff := cmp.Diff(all, breachesOf(keeping(t, map[string][]string{"a": {}}, reader("", spec)), readsNeeded)); diff != "" {
				t.Error(diff)
			}
			if got := breachesOf(keeping(t, map[string][]string{"a": want}, reader("", spec)), keepsSecret); len(got) > 0 {
				t.Error(got)
			}
		})
	}
}

func TestReadsAsWatched(t *testing.T) {
	t.Parallel()
	s := stateOf(t, "kind: ConfigMap\nmetadata: {name: web}", "kind: Secret\nmetadata: {name: same}")
	if got := breachesOf(s, readsAsWatched); len(got) > 0 {
		t.Error(got)
	}
	s.Differing = []record.Differing{{Object: "configmaps/default/web", Fields: []string{"data.a", "kind"}}, {Object: "secrets/default/gone", Fields: []string{"data"}}}
	if diff := cmp.Diff([]string{"configmaps/default/web: data.a, kind"}, breachesOf(s, readsAsWatched)); diff != "" {
		t.Error(diff)
	}
}
