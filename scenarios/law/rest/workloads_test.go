package rest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// The statuses of pods.
const (
	isReady   = "phase: Running, conditions: [{type: Ready, status: 'True'}]"
	isUnready = "phase: Running, conditions: [{type: Ready, status: 'False'}]"
	hasFailed = "phase: Failed"
)

// readySince is the status of a pod that is ready since a time of the day.
func readySince(at string) string {
	return strings.Replace(isReady, "'True'", "'True', lastTransitionTime: 2026-01-01T"+at+"Z", 1)
}

// isGoing is the metadata of an object that is being deleted, since half a minute.
const isGoing = "deletionTimestamp: 2026-01-01T11:59:30Z"

// podOf is a pod that another object of its namespace controls, with the label app: web.
func podOf(kind, owner, name, meta, status string) string {
	return manifest("Pod", name, "labels: {app: web}, ownerReferences: [{kind: "+kind+", name: "+owner+"}], "+meta, "status: {"+status+"}")
}

// podsOf are pods that are ready, with numbers after the name of their owner.
func podsOf(kind, owner string, numbers ...int) (all []string) {
	for _, n := range numbers {
		all = append(all, podOf(kind, owner, fmt.Sprintf("%s-%d", owner, n), "", isReady))
	}
	return all
}

// workload is an object that has pods with the label app: web.
func workload(kind, name, meta, spec, status string) string {
	return manifest(kind, name, meta, "spec: {selector: {matchLabels: {app: web}}, "+spec+"}\nstatus: {"+status+"}")
}

// replicaSet is one that a Deployment of the name web controls.
func replicaSet(name, spec, status string) string {
	return workload("ReplicaSet", name, "ownerReferences: [{kind: Deployment, name: web}]", spec, status)
}

// judged is a state that a law judges.
type judged struct {
	manifests []string
	want      []string
}

func judge(t *testing.T, l Law, tests map[string]judged) {
	t.Helper()
	t.Parallel()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateOf(t, test.manifests...), l)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// with are manifests with others before them.
func with(more []string, first ...string) []string { return append(first, more...) }

func TestHasPods(t *testing.T) {
	const quota = "kind: ResourceQuota\nmetadata: {name: q, namespace: %s}"
	const limits = "kind: LimitRange\nmetadata: {name: l}"
	const refuses = "conditions: [{type: ReplicaFailure, status: 'True'}]"
	set := func(meta, status string) string { return workload("ReplicaSet", "web", meta, "replicas: 2", status) }
	two := set("", "")
	one := podsOf("ReplicaSet", "web", 1)
	lacks := []string{"replicasets/default/web: 1 pods, where spec.replicas is 2"}

	deployment := func(meta, spec string) string { return workload("Deployment", "web", meta, "replicas: 2, "+spec, "") }
	rollout := deployment("", "")
	older, newer := replicaSet("old", "replicas: 0", ""), replicaSet("new", "replicas: 2", "")
	hasNone := []string{"deployments/default/web: it has no ReplicaSet"}

	stateful := func(meta, spec string) string { return workload("StatefulSet", "web", meta, "replicas: 3, "+spec, "") }
	ordered, parallel := stateful("", ""), stateful("", "podManagementPolicy: Parallel")
	first := podsOf("StatefulSet", "web", 0)
	taken := manifest("Pod", "web-1", "", "status: {"+isReady+"}")
	slow := podOf("StatefulSet", "web", "web-0", "", isUnready)
	noneOf := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, "statefulsets/default/web: pod "+name+" is not there")
		}
		return all
	}

	job := func(meta, spec, status string) string {
		return workload("Job", "web", meta, "parallelism: 2, "+spec, status)
	}
	running := job("", "completions: 5", "")
	lone := podsOf("Job", "web", 1)
	few := []string{"jobs/default/web: 1 pods, where there should be 2"}

	judge(t, hasPods, map[string]judged{
		"a ReplicaSet that has its pods":        {manifests: with(podsOf("ReplicaSet", "web", 1, 2), two)},
		"a pod lacks":                           {with(one, two), lacks},
		"a pod failed":                          {with(one, two, podOf("ReplicaSet", "web", "old", "", hasFailed)), lacks},
		"a pod goes":                            {with(one, two, podOf("ReplicaSet", "web", "old", isGoing, isReady)), lacks},
		"a pod of another namespace":            {with(one, two, podOf("ReplicaSet", "web", "far", "namespace: other", isReady)), lacks},
		"a pod of another owner":                {with(one, two, podOf("ReplicaSet", "other", "other", "", isReady)), lacks},
		"a pod lacks, and there is a quota":     {manifests: with(one, two, fmt.Sprintf(quota, "default"))},
		"a pod lacks, and one is elsewhere":     {with(one, two, fmt.Sprintf(quota, "other")), lacks},
		"a pod lacks, and there are limits":     {manifests: with(one, two, limits)},
		"a pod lacks, and was refused":          {manifests: with(one, set("", refuses))},
		"a pod lacks, and was refused once":     {with(one, set("", strings.Replace(refuses, "True", "False", 1))), lacks},
		"a pod lacks where pods are restricted": {manifests: with(one, two, "kind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/enforce: baseline}}")},
		"a pod lacks where none is restricted":  {with(one, two, wholeCluster), lacks},
		"a ReplicaSet that is not defaulted":    {manifests: []string{workload("ReplicaSet", "web", "", "", "")}},
		"a ReplicaSet goes":                     {manifests: with(one, set(isGoing, ""))},

		"a Deployment that has its pods":                {manifests: with(podsOf("ReplicaSet", "new", 1, 2), rollout, older, newer)},
		"a Deployment without a ReplicaSet":             {[]string{rollout}, hasNone},
		"its ReplicaSet is elsewhere":                   {[]string{rollout, strings.Replace(newer, "{name: new", "{namespace: other, name: new", 1), fmt.Sprintf(quota, "other")}, hasNone},
		"it has none, and there is a quota":             {manifests: []string{rollout, fmt.Sprintf(quota, "default")}},
		"a rollout does not wait for a pod that failed": {with(podsOf("ReplicaSet", "new", 1), rollout, replicaSet("new", "replicas: 1", ""), podOf("ReplicaSet", "new", "old", "", hasFailed)), []string{"deployments/default/web: 1 pods, where spec.replicas is 2"}},
		"a paused Deployment":                           {manifests: []string{deployment("", "paused: true")}},
		"a Deployment goes":                             {manifests: []string{deployment(isGoing, "")}},
		"a rollout stands still":                        {with(podsOf("ReplicaSet", "new", 1, 2), rollout, replicaSet("old", "replicas: 1", ""), newer, podsOf("ReplicaSet", "old", 1)[0]), []string{"deployments/default/web: 3 pods, where spec.replicas is 2"}},
		"a rollout waits for a pod":                     {manifests: with(podsOf("ReplicaSet", "old", 1, 2), rollout, replicaSet("old", "replicas: 2", ""), replicaSet("new", "replicas: 1", ""), podOf("ReplicaSet", "new", "new-1", "", isUnready))},
		"a rollout waits for time":                      {manifests: with(podsOf("ReplicaSet", "old", 1, 2), deployment("", "minReadySeconds: 60"), replicaSet("old", "replicas: 2", ""), replicaSet("new", "replicas: 1", ""), podsOf("ReplicaSet", "new", 1)[0])},
		"a rollout waits until a pod is gone":           {manifests: []string{rollout, older, podOf("ReplicaSet", "old", "old-1", isGoing, isReady)}},
		"a rollout can't make a pod":                    {manifests: with(podsOf("ReplicaSet", "new", 1), rollout, replicaSet("new", "replicas: 2", refuses))},
		"a ready pod goes, another one is not so":       {manifests: []string{rollout, replicaSet("new", "replicas: 1", ""), podOf("ReplicaSet", "new", "new-1", isGoing, isReady), podOf("ReplicaSet", "new", "new-2", "", isUnready)}},

		"a StatefulSet that has its pods":     {manifests: with(podsOf("StatefulSet", "web", 0, 1, 2), ordered)},
		"an ordinal lacks":                    {with(podsOf("StatefulSet", "web", 0, 2), ordered), noneOf("web-1")},
		"one after another":                   {manifests: []string{ordered, slow}},
		"all at once":                         {[]string{parallel, slow}, noneOf("web-1", "web-2")},
		"its name is taken":                   {manifests: with(podsOf("StatefulSet", "web", 0, 2), ordered, taken)},
		"its name is taken, and others wait":  {manifests: with(first, ordered, taken)},
		"its name is taken, all at once":      {with(first, parallel, taken), noneOf("web-2")},
		"its name is taken elsewhere":         {with(podsOf("StatefulSet", "web", 0, 2), ordered, strings.Replace(taken, "{name: web-1", "{namespace: other, name: web-1", 1)), noneOf("web-1")},
		"other ordinals":                      {with(podsOf("StatefulSet", "web", 5, 6), stateful("", "ordinals: {start: 5}")), noneOf("web-7")},
		"pods have to be ready for some time": {manifests: with(first, stateful("", "minReadySeconds: 60"))},
		"an old claim goes":                   {manifests: with(first, ordered, manifest("PersistentVolumeClaim", "data-web-1", isGoing, ""))},
		"a claim that stays":                  {with(first, ordered, manifest("PersistentVolumeClaim", "data-web-0", "", "")), noneOf("web-1", "web-2")},
		"a StatefulSet goes":                  {manifests: with(first, stateful(isGoing, ""))},

		"a Job that has its pods":           {manifests: with(podsOf("Job", "web", 1, 2), running)},
		"a Job lacks a pod":                 {with(lone, running), few},
		"a Job has one too many":            {with(podsOf("Job", "web", 1, 2, 3), running), []string{"jobs/default/web: 3 pods, where there should be 2"}},
		"a Job is nearly done":              {manifests: with(lone, job("", "completions: 5", "succeeded: 4"))},
		"a Job waits after a failure":       {manifests: with(lone, job("", "completions: 5", "failed: 1"))},
		"a Job waits until a pod is gone":   {manifests: with(lone, running, podOf("Job", "web", "old", isGoing, isReady))},
		"a Job that is suspended":           {manifests: []string{job("", "completions: 5, suspend: true", "")}},
		"a Job that has ended":              {manifests: []string{job("", "completions: 5", "conditions: [{type: Complete, status: 'True'}]")}},
		"a Job that has not quite ended":    {with(lone, job("", "completions: 5", "conditions: [{type: Failed, status: 'False'}]")), few},
		"one success is enough":             {manifests: with(lone, job("", "", ""), podOf("Job", "web", "old", "", "phase: Succeeded"))},
		"no success yet":                    {with(lone, job("", "", "")), few},
		"a Job of another controller":       {manifests: []string{job("", "completions: 5, managedBy: example.com/mine", "")}},
		"a Job of the controller by name":   {with(lone, job("", "completions: 5, managedBy: kubernetes.io/job-controller", "")), few},
		"a Job goes":                        {manifests: []string{job(isGoing, "completions: 5", "")}},
		"a Job in a namespace with a quota": {manifests: with(lone, running, fmt.Sprintf(quota, "default"))},
	})
}

func TestHasNoMore(t *testing.T) {
	set := func(meta string) string { return workload("ReplicaSet", "web", meta, "replicas: 1", "") }
	two := podsOf("ReplicaSet", "web", 1, 2)
	one := podsOf("ReplicaSet", "web", 1)

	stateful := func(spec string) string { return workload("StatefulSet", "web", "", "replicas: 2, "+spec, "") }
	slow := podOf("StatefulSet", "web", "web-0", "", isUnready)
	more := []string{"statefulsets/default/web: pod web-2 is there, where spec.replicas is 2"}

	job := func(meta, spec, status string) string {
		return workload("Job", "web", meta, "parallelism: 1, "+spec, status)
	}
	running := podsOf("Job", "web", 1)
	notNone := []string{"jobs/default/web: 1 pods, where there should be none"}

	judge(t, hasNoMore, map[string]judged{
		"as many as it wants":        {manifests: with(one, set(""))},
		"one too many":               {with(two, set("")), []string{"replicasets/default/web: 2 pods, where spec.replicas is 1"}},
		"one that goes":              {manifests: with(one, set(""), podOf("ReplicaSet", "web", "old", isGoing, isReady))},
		"one that failed":            {manifests: with(one, set(""), podOf("ReplicaSet", "web", "old", "", hasFailed))},
		"one of another namespace":   {manifests: with(one, set(""), podOf("ReplicaSet", "web", "far", "namespace: other", isReady))},
		"one that it does not own":   {manifests: with(one, set(""), manifest("Pod", "web-2", "labels: {app: web}", "status: {"+isReady+"}"))},
		"a ReplicaSet that goes":     {manifests: with(two, set(isGoing))},
		"a ReplicaSet not defaulted": {manifests: with(two, workload("ReplicaSet", "web", "", "", ""))},

		"the ordinals that it wants":  {manifests: with(podsOf("StatefulSet", "web", 0, 1), stateful(""))},
		"an ordinal too many":         {with(podsOf("StatefulSet", "web", 0, 1, 2), stateful("")), more},
		"an ordinal before the first": {with(podsOf("StatefulSet", "web", 0, 1, 2), stateful("ordinals: {start: 1}")), []string{strings.Replace(more[0], "web-2", "web-0", 1)}},
		"one of another owner":        {manifests: with(podsOf("StatefulSet", "web", 0, 1), stateful(""), manifest("Pod", "web-2", "", "status: {"+isReady+"}"))},
		"no ordinal":                  {manifests: with(podsOf("StatefulSet", "web", 0, 1), stateful(""), podOf("StatefulSet", "web", "web-x", "", isReady))},
		"no ordinal before the first": {manifests: with(podsOf("StatefulSet", "web", 1, 2), stateful("ordinals: {start: 1}"), podOf("StatefulSet", "web", "web-x", "", isReady))},
		"it waits for another one":    {manifests: with(podsOf("StatefulSet", "web", 1, 2), stateful(""), slow)},
		"it waits for none":           {with(podsOf("StatefulSet", "web", 1, 2), stateful("podManagementPolicy: Parallel"), slow), more},
		"it waits for time":           {manifests: with(podsOf("StatefulSet", "web", 0, 1, 2), stateful("minReadySeconds: 60"))},
		"an ordinal that goes":        {manifests: with(podsOf("StatefulSet", "web", 0, 1), stateful("podManagementPolicy: Parallel"), podOf("StatefulSet", "web", "web-2", isGoing, isReady))},

		"a Job that runs":             {manifests: with(running, job("", "", ""))},
		"a Job that is suspended":     {with(running, job("", "suspend: true", "")), notNone},
		"a Job that is resumed":       {manifests: with(running, job("", "suspend: false", "conditions: [{type: Suspended, status: 'False'}]"))},
		"a Job that has failed":       {with(running, job("", "", "conditions: [{type: Failed, status: 'True'}]")), notNone},
		"a Job that is about to fail": {manifests: with(running, job("", "", "conditions: [{type: FailureTarget, status: 'True'}]"))},
		"its pod goes":                {manifests: []string{job("", "suspend: true", ""), podOf("Job", "web", "web-1", isGoing, isReady)}},
		"a Job of another controller": {manifests: with(running, job("", "suspend: true, managedBy: example.com/mine", ""))},
		"a Job that goes":             {manifests: with(running, job(isGoing, "suspend: true", ""))},
	})
}

func TestReportsPods(t *testing.T) {
	set := func(meta, spec, status string) string { return workload("ReplicaSet", "web", meta, spec, status) }
	two := podsOf("ReplicaSet", "web", 1, 2)
	one := podsOf("ReplicaSet", "web", 1)
	const numbers = "replicas: 2, readyReplicas: 1, availableReplicas: 1"
	const wrong = "status.replicas is 2, and 1 are so"
	mixed := with(one, podOf("ReplicaSet", "web", "slow", "", isUnready))

	deployment := func(meta, status string) string { return workload("Deployment", "web", meta, "replicas: 3", status) }
	older, newer := replicaSet("old", "", numbers), replicaSet("new", "", "replicas: 1")
	const sums = "replicas: 3, readyReplicas: 1, availableReplicas: 1"

	stateful := func(meta, spec, status string) string { return workload("StatefulSet", "web", meta, spec, status) }
	half := []string{podsOf("StatefulSet", "web", 0)[0], podOf("StatefulSet", "web", "web-1", "", isUnready)}

	job := func(meta, spec, status string) string { return workload("Job", "web", meta, spec, status) }

	judge(t, reportsPods, map[string]judged{
		"a ReplicaSet is right":          {manifests: with(mixed, set("", "", numbers))},
		"a ReplicaSet is wrong":          {with(one, set("", "", numbers)), []string{"replicasets/default/web: " + wrong}},
		"all numbers are wrong":          {with(two, set("", "", "replicas: 1")), []string{"replicasets/default/web: status.replicas is 1, and 2 are so; status.readyReplicas is 0, and 2 are so; status.availableReplicas is 0, and 2 are so"}},
		"it is about another spec":       {manifests: with(one, set("generation: 2", "", "observedGeneration: 1, "+numbers))},
		"it is about this spec":          {with(one, set("generation: 2", "", "observedGeneration: 2, "+numbers)), []string{"replicasets/default/web: " + wrong}},
		"while a pod goes":               {manifests: with(one, set("", "", numbers), podOf("ReplicaSet", "web", "old", isGoing, isReady))},
		"a pod of another namespace":     {manifests: with(mixed, set("", "", numbers), podOf("ReplicaSet", "web", "far", "namespace: other", isReady))},
		"a pod that failed":              {manifests: with(mixed, set("", "", numbers), podOf("ReplicaSet", "web", "old", "", hasFailed))},
		"a pod that is not selected":     {manifests: with(mixed, set("", "", numbers), strings.Replace(podsOf("ReplicaSet", "web", 3)[0], "app: web", "app: other", 1))},
		"pods are available later":       {manifests: []string{set("", "minReadySeconds: 60", "replicas: 1, readyReplicas: 1"), podOf("ReplicaSet", "web", "new", "", readySince("11:58:56"))}},
		"pods should be available":       {[]string{set("", "minReadySeconds: 60", "replicas: 1, readyReplicas: 1"), podOf("ReplicaSet", "web", "new", "", readySince("11:58:55"))}, []string{"replicasets/default/web: status.availableReplicas is 0, and 1 are so"}},
		"pods are available, and counts": {with(mixed, set("", "", "replicas: 2, readyReplicas: 1")), []string{"replicasets/default/web: status.availableReplicas is 0, and 1 are so"}},

		"a Deployment is right":       {manifests: with(mixedOf("old"), deployment("", sums), older, newer, podOf("ReplicaSet", "new", "new-1", "", isUnready))},
		"a Deployment is wrong":       {with(mixedOf("old"), deployment("", strings.Replace(sums, "3", "2", 1)), older, newer, podOf("ReplicaSet", "new", "new-1", "", isUnready)), []string{"deployments/default/web: status.replicas is 2, and 3 are so"}},
		"about another spec":          {manifests: with(mixedOf("old"), deployment("generation: 2", "observedGeneration: 1"), older)},
		"a ReplicaSet has to be seen": {manifests: with(mixedOf("old"), deployment("", ""), older, strings.Replace(replicaSet("new", "", "observedGeneration: 1"), "{name: new", "{generation: 2, name: new", 1))},
		"while a pod of it goes":      {manifests: with(mixedOf("old"), deployment("", ""), older, podOf("ReplicaSet", "old", "old-9", isGoing, isReady))},

		"a StatefulSet is right":           {manifests: with(half, stateful("", "", numbers))},
		"a StatefulSet is wrong":           {with(half[:1], stateful("", "", numbers)), []string{"statefulsets/default/web: " + wrong}},
		"a StatefulSet has to see it":      {manifests: with(half[:1], stateful("generation: 2", "", "observedGeneration: 1, "+numbers))},
		"pods that are available later":    {manifests: []string{stateful("", "minReadySeconds: 60", "replicas: 1, readyReplicas: 1"), podOf("StatefulSet", "web", "web-0", "", readySince("11:58:56"))}},
		"pods that should be available":    {[]string{stateful("", "minReadySeconds: 60", "replicas: 1, readyReplicas: 1"), podOf("StatefulSet", "web", "web-0", "", readySince("11:58:55"))}, []string{"statefulsets/default/web: status.availableReplicas is 0, and 1 are so"}},
		"an ordinal that goes":             {manifests: with(half[:1], stateful("", "", numbers), podOf("StatefulSet", "web", "web-1", isGoing, isUnready))},
		"an ordinal that failed":           {manifests: with(half[:1], stateful("", "", numbers), podOf("StatefulSet", "web", "web-1", "", hasFailed))},
		"an ordinal that failed, ready":    {manifests: with(half[:1], stateful("", "", numbers), podOf("StatefulSet", "web", "web-1", "", strings.Replace(isReady, "Running", "Failed", 1)))},
		"an ordinal's name is taken":       {manifests: with(half[:1], stateful("", "", "replicas: 1, readyReplicas: 1, availableReplicas: 1"), manifest("Pod", "web-1", "labels: {app: web}", "status: {"+isReady+"}"))},
		"a Job is right":                   {manifests: with(podsOf("Job", "web", 1), job("", "", "active: 2, ready: 1"), podOf("Job", "web", "slow", "", isUnready), podOf("Job", "web", "done", "", "phase: Succeeded"))},
		"a Job is wrong":                   {with(podsOf("Job", "web", 1), job("", "", "active: 2")), []string{"jobs/default/web: status.active is 2, and 1 are so; status.ready is 0, and 1 are so"}},
		"a pod of a Job has failed, ready": {manifests: with(podsOf("Job", "web", 1), job("", "", "active: 1, ready: 1"), podOf("Job", "web", "old", "", strings.Replace(isReady, "Running", "Failed", 1)))},
		"while a pod of a Job goes":        {manifests: []string{job("", "", "active: 2"), podOf("Job", "web", "web-1", isGoing, isReady)}},
		"a Job of another controller":      {manifests: with(podsOf("Job", "web", 1), job("", "managedBy: example.com/mine", ""))},
		"a Job, a pod elsewhere":           {manifests: []string{job("", "", ""), podOf("Job", "web", "far", "namespace: other", isReady)}},
		"a Job without pods that is new":   {manifests: []string{job("", "", "")}},
	})
}

// mixedOf are two pods of a ReplicaSet, of which one is ready.
func mixedOf(owner string) []string {
	return with(podsOf("ReplicaSet", owner, 1), podOf("ReplicaSet", owner, owner+"-2", "", isUnready))
}

// TestReportsDeadline: a rollout that does not come to its end is said to fail after its deadline.
func TestReportsDeadline(t *testing.T) {
	const deadline = "replicas: 1, progressDeadlineSeconds: 60"
	deployment := func(meta, spec, status, condition string) string {
		return workload("Deployment", "web", meta, spec, "replicas: 1, updatedReplicas: 1, "+status+", conditions: [{type: Available, status: 'True', lastUpdateTime: 2026-01-01T11:00:00Z}, {type: Progressing, "+condition+"}]")
	}
	progress := func(at string) string {
		return "status: 'True', reason: ReplicaSetUpdated, lastUpdateTime: 2026-01-01T11:" + at + "Z"
	}
	const none, some = "availableReplicas: 0", "availableReplicas: 1"
	late := progress("58:54")
	set := func(ready int) string {
		return replicaSet("new", "replicas: 1", fmt.Sprintf("replicas: 1, readyReplicas: 0, availableReplicas: %d", ready))
	}
	alone := func(d string) []string {
		return []string{d, set(0), podOf("ReplicaSet", "new", "new-1", "", isUnready)}
	}
	breach := []string{"deployments/default/web: condition Progressing has been True for 66 s without progress, and the deadline is 1m0s"}
	judge(t, deadlines(), map[string]judged{
		"too late":              {alone(deployment("", deadline, none, late)), breach},
		"not late":              {manifests: alone(deployment("", deadline, none, progress("58:55")))},
		"a longer deadline":     {manifests: alone(deployment("", strings.Replace(deadline, "60", "600", 1), none, late))},
		"no deadline":           {manifests: alone(deployment("", "replicas: 1", none, late))},
		"it says so":            {manifests: alone(deployment("", deadline, none, strings.Replace(strings.Replace(late, "True", "False", 1), "ReplicaSetUpdated", "ProgressDeadlineExceeded", 1)))},
		"it was complete once":  {manifests: alone(deployment("", deadline, none, strings.Replace(late, "ReplicaSetUpdated", "NewReplicaSetAvailable", 1)))},
		"it is complete":        {manifests: []string{deployment("", deadline, some, late), set(1)}},
		"too few are new":       {[]string{strings.Replace(deployment("", deadline, some, late), "updatedReplicas: 1", "updatedReplicas: 0", 1), set(1)}, breach},
		"it is paused":          {manifests: alone(deployment("", deadline+", paused: true", none, late))},
		"it goes":               {manifests: alone(deployment(isGoing, deadline, none, late))},
		"about another spec":    {manifests: alone(deployment("generation: 2", deadline, none+", observedGeneration: 1", late))},
		"it was paused before":  {manifests: alone(deployment("", deadline, none, "status: Unknown, reason: DeploymentPaused, lastUpdateTime: 2026-01-01T11:00:00Z"))},
		"it makes progress now": {manifests: alone(deployment("", deadline, none, progress("59:59")))},
	})
}

// deadlines is the part of the law of statuses that is about deadlines.
func deadlines() Law {
	return Law{judge: func(s *State, report reporter) { s.reportsDeployments(report) }}
}

// TestFaultsMute: no status counts while a fault keeps a controller from writing it, or from seeing pods.
func TestFaultsMute(t *testing.T) {
	t.Parallel()
	set := workload("ReplicaSet", "web", "", "", "replicas: 2")
	refuses := func(verb, resource string) record.LinkFault {
		return record.LinkFault{Path: record.AnyPath, Verb: verb, Resource: resource, Status: 500}
	}
	once := refuses("update", "replicasets/status")
	once.Nth = 1
	for name, test := range map[string]struct {
		fault record.LinkFault
		mute  bool
	}{
		"pods can't be made":         {refuses("create", "pods"), false},
		"a status can't be written":  {refuses("update", "replicasets/status"), true},
		"it can't be written once":   {once, false},
		"nothing can be written":     {refuses("update", ""), true},
		"pods can't be read":         {refuses("list", "pods"), true},
		"pods are seen late":         {record.LinkFault{Path: record.AnyPath, Verb: "watch", Resource: "pods", Stale: true}, true},
		"a link is cut":              {record.LinkFault{Cut: record.CutDrop}, true},
		"a runtime does not answer":  {record.LinkFault{Method: "RunPodSandbox", Code: "Unavailable"}, false},
		"any request can be refused": {record.LinkFault{Path: record.AnyPath, Status: 500}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := happening{"kube-controller-manager->kube-apiserver", record.FaultBegan{Fault: test.fault}}
			ended := happening{began.subject, record.FaultEnded{Fault: test.fault}}
			for end, want := range map[bool]bool{false: !test.mute, true: true} {
				entries := []any{set, began}
				if end {
					entries = append(entries, ended)
				}
				if s := stateAfter(historyOf(t, entries...)); s.Faulty == end || len(breachesOf(s, reportsPods)) > 0 != want {
					t.Errorf("ended %t: faulty %t, judged %t", end, s.Faulty, !want)
				}
			}
		})
	}
}

// TestWebhooksExcuse: what webhooks may have changed or refused is not a controller's doing.
func TestWebhooksExcuse(t *testing.T) {
	t.Parallel()
	lacks := workload("ReplicaSet", "web", "", "replicas: 2, template: {metadata: {labels: {app: web}}}", "")
	labeled := strings.Replace(podsOf("ReplicaSet", "web", 1)[0], "app: web", "app: web, mesh: mine", 1)
	for _, l := range []Law{hasPods, followsTemplate} {
		if got := breachesOf(stateAfter(historyOf(t, lacks, labeled)), l); len(got) != 1 {
			t.Errorf("%s: %v", l.Breach, got)
		}
		asked := happening{"mesh.example.com", record.WebhookCalled{Operation: "CREATE", Object: "pods/default/", Allowed: true}}
		if got := breachesOf(stateAfter(historyOf(t, lacks, asked, labeled)), l); len(got) > 0 {
			t.Errorf("%s, with a webhook: %v", l.Breach, got)
		}
	}
}
