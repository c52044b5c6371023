package rest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
)

func TestStillness(t *testing.T) {
	t.Parallel()
	const config = "kind: ConfigMap\nmetadata: {name: web}"
	going := func(at string) string {
		return manifest("ConfigMap", "web", "deletionTimestamp: 2026-01-01T11:59:"+at+"Z", "")
	}
	behind := func(kind, status string) string { return manifest(kind, "web", "generation: 2", status) }
	pod := func(meta, spec, status string) string {
		return manifest("Pod", "web", meta, "spec: {"+spec+"}\nstatus: {"+status+"}")
	}
	unseen := pod("", "", "phase: Pending")
	rollout := func(deadline, at string) string {
		return manifest("Deployment", "web", "generation: 1", "spec: {replicas: 1, "+deadline+"}\nstatus: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, "+
			"conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: ReplicaSetUpdated, lastUpdateTime: 2026-01-01T11:59:"+at+"Z}]}")
	}
	const soon, later = "progressDeadlineSeconds: 10", "progressDeadlineSeconds: 11"
	hurried := rollout(soon, "46")
	complete := strings.Replace(hurried, "ReplicaSetUpdated", "NewReplicaSetAvailable", 1)
	late := strings.Replace(hurried, "status: 'True', reason: ReplicaSetUpdated", "status: 'False', reason: ProgressDeadlineExceeded", 1)
	leaving := strings.Replace(hurried, "generation: 1", "generation: 1, deletionTimestamp: 2026-01-01T11:59:45Z", 1)
	// repeat is so many writes, each the time before the moment.
	type write struct {
		before   time.Duration
		manifest string
		times    int
	}
	const minute, second = time.Minute, time.Second
	for name, test := range map[string]struct {
		writes      []write
		noScheduler bool
		want        []string
	}{
		"written before":          {writes: []write{{3 * second, config, 1}}},
		"written lately":          {[]write{{10 * second, config, 1}, {2 * second, config, 1}}, false, []string{"configmaps/default/web"}},
		"two of them":             {[]write{{second, config, 1}, {second, unseen, 1}}, false, []string{"configmaps/default/web", "pods/default/web"}},
		"gone lately":             {[]write{{10 * second, config, 1}, {2 * second, "gone " + config, 1}}, false, []string{"configmaps/default/web"}},
		"gone before":             {writes: []write{{10 * second, config, 1}, {3 * second, "gone " + config, 1}}},
		"an Event":                {writes: []write{{second, "kind: Event\nmetadata: {name: web}", 1}}},
		"a node":                  {writes: []write{{second, nodeNamed("a", "", "", ""), 1}}},
		"a Lease":                 {writes: []write{{second, "kind: Lease\nmetadata: {name: web}", 1}}},
		"of another cluster":      {writes: []write{{second, "seed " + config, 1}}},
		"written often":           {[]write{{second, config, law.MaxWrites}}, false, []string{"configmaps/default/web"}},
		"written without end":     {writes: []write{{second, config, law.MaxWrites + 1}}},
		"written often before":    {[]write{{5 * minute, config, law.MaxWrites + 1}, {second, config, 1}}, false, []string{"configmaps/default/web"}},
		"it waits without end":    {writes: []write{{minute, unseen, law.MaxWrites + 1}}},
		"another one without end": {[]write{{second, config, law.MaxWrites + 1}, {second, strings.Replace(config, "web", "other", 1), 1}}, false, []string{"configmaps/default/other"}},

		"it was deleted":                   {[]write{{10 * second, going("46"), 1}}, false, []string{"configmaps/default/web"}},
		"it was deleted, and should go":    {writes: []write{{10 * second, going("45"), 1}}},
		"it was deleted, and is gone":      {writes: []write{{10 * second, going("46"), 1}, {5 * second, "gone " + going("46"), 1}}},
		"it will be deleted":               {[]write{{10 * second, strings.Replace(going("46"), "11:59:46", "12:00:20", 1), 1}}, false, []string{"configmaps/default/web"}},
		"it was deleted, and behind":       {writes: []write{{minute, manifest("Deployment", "web", "generation: 2, "+isGoing, ""), 1}}},
		"made again after it was deleted":  {writes: []write{{10 * second, going("46"), 1}, {6 * second, "gone " + going("46"), 1}, {5 * second, config, 1}}},
		"it waited, and was deleted since": {writes: []write{{minute, unseen, 1}, {5 * second, "gone " + unseen, 1}}},

		"a Deployment that was seen":  {writes: []write{{minute, behind("Deployment", "status: {observedGeneration: 2}"), 1}}},
		"a Deployment of old":         {[]write{{19 * second, behind("Deployment", "status: {observedGeneration: 1}"), 1}}, false, []string{"deployments/default/web"}},
		"a Deployment that is new":    {[]write{{19 * second, behind("Deployment", ""), 1}}, false, []string{"deployments/default/web"}},
		"it was seen since":           {writes: []write{{minute, behind("Deployment", ""), 1}, {5 * second, behind("Deployment", "status: {observedGeneration: 2}"), 1}}},
		"a ReplicaSet that is new":    {[]write{{19 * second, behind("ReplicaSet", ""), 1}}, false, []string{"replicasets/default/web"}},
		"a StatefulSet that is new":   {[]write{{19 * second, behind("StatefulSet", ""), 1}}, false, []string{"statefulsets/default/web"}},
		"a DaemonSet that is new":     {[]write{{19 * second, behind("DaemonSet", ""), 1}}, false, []string{"daemonsets/default/web"}},
		"a budget that is new":        {[]write{{19 * second, behind("PodDisruptionBudget", ""), 1}}, false, []string{"poddisruptionbudgets/default/web"}},
		"a Job never says it":         {writes: []write{{minute, behind("Job", ""), 1}}},
		"a foreign object says it":    {[]write{{19 * second, behind("Widget", "status: {observedGeneration: 1}"), 1}}, false, []string{"widgets/default/web"}},
		"a foreign object never does": {writes: []write{{minute, behind("Widget", ""), 1}}},

		"a deadline is near":                {[]write{{10 * second, hurried, 1}}, false, []string{"deployments/default/web"}},
		"a deadline is over":                {writes: []write{{10 * second, rollout(soon, "45"), 1}}},
		"a deadline is far":                 {writes: []write{{10 * second, rollout(later, "50"), 1}}},
		"no deadline":                       {writes: []write{{10 * second, rollout("", "50"), 1}}},
		"it makes progress":                 {[]write{{15 * second, rollout(soon, "45"), 1}, {10 * second, hurried, 1}}, false, []string{"deployments/default/web"}},
		"it is complete":                    {writes: []write{{10 * second, strings.Replace(hurried, "updatedReplicas", "availableReplicas: 1, updatedReplicas", 1), 1}}},
		"it was complete once":              {writes: []write{{10 * second, complete, 1}}},
		"it was complete since":             {writes: []write{{10 * second, hurried, 1}, {5 * second, complete, 1}}},
		"it says that it was too late":      {writes: []write{{10 * second, late, 1}}},
		"it is paused":                      {writes: []write{{10 * second, rollout(soon+", paused: true", "46"), 1}}},
		"it was deleted, and has no time":   {writes: []write{{10 * second, leaving, 1}}},
		"it is gone since":                  {writes: []write{{10 * second, hurried, 1}, {5 * second, "gone " + hurried, 1}}},
		"another kind with such a deadline": {writes: []write{{10 * second, strings.Replace(hurried, "Deployment", "StatefulSet", 1), 1}}},

		"its pods are available soon":      {[]write{{10*second - 1, behind("DaemonSet", "spec: {minReadySeconds: 5}\nstatus: {observedGeneration: 2}"), 1}}, false, []string{"daemonsets/default/web"}},
		"its pods should be available":     {writes: []write{{10 * second, behind("DaemonSet", "spec: {minReadySeconds: 5}\nstatus: {observedGeneration: 2}"), 1}}},
		"its pods are available far later": {writes: []write{{10 * second, behind("DaemonSet", "spec: {minReadySeconds: 11}\nstatus: {observedGeneration: 2}"), 1}}},

		"the scheduler has to see it":                          {[]write{{19 * second, unseen, 1}}, false, []string{"pods/default/web"}},
		"no node takes it, and may now":                        {[]write{{minute, podWaiting("", ""), 1}, {11 * second, config, 1}}, false, []string{"pods/default/new"}},
		"no node takes it":                                     {writes: []write{{minute, podWaiting("", ""), 1}, {12 * second, config, 1}}},
		"no node takes it, and others are written without end": {writes: []write{{minute, podWaiting("", ""), 1}, {second, config, law.MaxWrites + 1}}},
		"no scheduler puts it on a node":                       {writes: []write{{minute, podWaiting("", ""), 1}, {11 * second, config, 1}}, noScheduler: true},
		"it has a gate":                                        {writes: []write{{minute, pod("", "", "conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]"), 1}, {11 * second, config, 1}}},
		"a node takes it since":                                {writes: []write{{minute, podWaiting("", ""), 1}, {11 * second, strings.Replace(podWaiting("", "nodeName: a"), refused, "", 1), 1}}},
		"no scheduler has to":                                  {writes: []write{{minute, unseen, 1}}, noScheduler: true},
		"the scheduler says nothing":                           {writes: []write{{20 * second, unseen, 1}}},
		"the scheduler has seen it":                            {writes: []write{{minute, podWaiting("", ""), 1}}},
		"it is on a node":                                      {writes: []write{{minute, pod("", "nodeName: a", ""), 1}}},
		"another scheduler has to see it":                      {writes: []write{{minute, pod("", "schedulerName: mine", ""), 1}}},
		"it failed unseen":                                     {writes: []write{{minute, pod("", "", hasFailed), 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Stillness{Began: restAt.Add(-2 * minute), Scheduler: !test.noScheduler}
			s.Add(eventAt(t, restAt, "kube-scheduler", record.ComponentStarted{}))
			for _, w := range test.writes {
				text, seed := strings.CutPrefix(w.manifest, "seed ")
				text, gone := strings.CutPrefix(text, "gone ")
				for _, v := range versionsOf(t, text) {
					o := shown(v, "modified")
					if gone {
						o.Change = record.Deleted
					}
					if seed {
						o.Cluster = "seed"
					}
					for range w.times {
						s.Add(eventAt(t, restAt.Add(-w.before), v.Key, o))
					}
				}
			}
			if diff := cmp.Diff(test.want, s.Restless(restAt, 3*second)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
