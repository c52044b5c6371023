// Package jobs runs shards of a run on an existing Kubernetes cluster, as the indexes of one Job, and gathers
// their reports.
//
// A pod of the Job runs skewrig on its shard, and stays until its report was taken. That its report is there is
// what its readiness probe says. Nothing of the cluster is needed but pods: no shared disk, and no privilege.
package jobs

import (
	"encoding/json"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/existing"
)

// Run is a run whose shards are the indexes of a Job.
type Run struct {
	// Name is that of the Job, and of its files.
	Name string `json:"name"`
	// Namespace is where it is.
	Namespace string `json:"namespace"`
	// Image has skewrig, and the components that cells need (make image).
	Image string `json:"image"`
	// Shards is how many there are.
	Shards int `json:"shards"`
	// Args are the command of skewrig that each shard runs, with its arguments, beside which shard it is: run kep-4939.
	Args []string `json:"args"`
}

// Where a container has what it works with.
const (
	workDir  = "/work"
	filesDir = "/files"
	// filesName is the archive of the user's own files, in filesDir.
	filesName = "files.tar.gz"
)

// day is how long a Job may take, and how long it is retained after its end if its reports are not gathered, in seconds.
const day = 24 * 60 * 60

// retries is how often an index is tried again whose pod failed.
const retries = 2

// Job is the Job of the run. patch is a strategic merge patch in YAML or JSON: what the cluster wants of its pods,
// such as a secret for pulling images. If it is empty, nothing is changed.
func (r Run) Job(hasFiles bool, patch []byte) (*batchv1.Job, error) {
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: r.meta(),
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(r.Shards)), Parallelism: new(int32(r.Shards)), //nolint:gosec // a few
			BackoffLimitPerIndex: new(int32(retries)), ActiveDeadlineSeconds: new(int64(day)), TTLSecondsAfterFinished: new(int32(day)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}, {
				Action:      batchv1.PodFailurePolicyActionFailIndex, // it would be refused again
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new(containerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{refused}},
			}}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: r.labels()}, Spec: r.pod(hasFiles)},
		},
	}
	if len(patch) == 0 {
		return job, nil
	}
	return patched(job, patch)
}

func patched(job *batchv1.Job, patch []byte) (*batchv1.Job, error) {
	patch, err := yaml.YAMLToJSON(patch)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	if text, err = strategicpatch.StrategicMergePatch(text, patch, batchv1.Job{}); err != nil {
		return nil, err
	}
	changed := new(batchv1.Job)
	return changed, yaml.UnmarshalStrict(text, changed)
}

// Files is the ConfigMap with the user's own files, as Pack packs them.
func (r Run) Files(packed []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ConfigMap"},
		ObjectMeta: r.meta(), BinaryData: map[string][]byte{filesName: packed},
	}
}

func (r Run) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, Labels: r.labels()}
}

func (r Run) labels() map[string]string { return map[string]string{existing.RunLabel: r.Name} }

// pod returns the pod that runs one shard: not as root, and without a token of the cluster.
func (r Run) pod(hasFiles bool) corev1.PodSpec {
	container := corev1.Container{
		Name: containerName, Image: r.Image, WorkingDir: workDir,
		Args: append([]string{"shard", "run", "--of", strconv.Itoa(r.Shards), "--"}, r.Args...),
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi"),
		}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command("ready")}},
			PeriodSeconds: 5, TimeoutSeconds: 5,
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "work", MountPath: workDir}},
	}
	volumes := []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: new(corev1.EmptyDirVolumeSource)}}}
	if hasFiles {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "files", MountPath: filesDir, ReadOnly: true})
		volumes = append(volumes, corev1.Volume{Name: "files", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: r.Name}},
		}})
	}
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), FSGroup: new(int64(group)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{container}, Volumes: volumes,
	}
}

// containerName is the name of the container that runs a shard.
const containerName = "skewrig"

// group may write what is in a volume.
const group = 65532

// command is the command that does something with the shard of a container: ready, send, release.
func command(do string) []string { return []string{"skewrig", "shard", do} }

// String says what runs: 4 shards in Job skewrig-x7k2p of namespace default.
func (r Run) String() string {
	return fmt.Sprintf("%d shards in Job %s of namespace %s", r.Shards, r.Name, r.Namespace)
}

// Deletion is the command that deletes the Job with all that is its.
func (r Run) Deletion() string {
	return fmt.Sprintf("kubectl delete job --namespace %s %s", r.Namespace, r.Name)
}
