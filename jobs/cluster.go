package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/skewrig/skewrig/harness/existing"
)

// Cluster is where Jobs run.
type Cluster struct {
	config *rest.Config
	client kubernetes.Interface
}

// NewCluster is the cluster of a client configuration.
func NewCluster(config *rest.Config) (*Cluster, error) {
	client, err := kubernetes.NewForConfig(config)
	return &Cluster{config, client}, err
}

// needed is what skewrig does in a cluster.
var needed = []existing.Permission{
	{Verb: "create", Group: "batch", Resource: "jobs"},
	{Verb: "get", Group: "batch", Resource: "jobs"},
	{Verb: "delete", Group: "batch", Resource: "jobs"},
	{Verb: "create", Resource: "configmaps"},
	{Verb: "list", Resource: "pods"},
	{Verb: "get", Resource: "pods/log"},
	{Verb: "create", Resource: "pods/exec"},
	{Verb: "get", Resource: "pods/exec"},
}

// Allowed is an error that names all that skewrig may not do in a namespace and has to.
func (c *Cluster) Allowed(ctx context.Context, namespace string) error {
	missing, err := existing.Missing(ctx, c.client, namespace, needed)
	if err != nil {
		return err
	}
	var refused []error
	for _, p := range missing {
		refused = append(refused, fmt.Errorf("the cluster does not allow to %s in namespace %s", p, namespace))
	}
	return errors.Join(refused...)
}

// answerLimit is how long the cluster may take to start a Job, and to delete it again.
const answerLimit = 30 * time.Second

// Start creates the Job of a run, and the user's files if there are any. If it can't, nothing is left, or the error
// says what may be.
func (c *Cluster) Start(ctx context.Context, r Run, job *batchv1.Job, packed []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// An interrupt comes before both are there, or after: a request that was sent may be carried out.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
	defer cancel()
	made, err := c.client.BatchV1().Jobs(r.Namespace).Create(whole, job, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return err // it is another's
	}
	if err == nil && packed != nil {
		files := r.Files(packed)
		files.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(made, batchv1.SchemeGroupVersion.WithKind("Job"))}
		_, err = c.client.CoreV1().ConfigMaps(r.Namespace).Create(whole, files, metav1.CreateOptions{})
	}
	if err != nil {
		return errors.Join(err, c.undo(ctx, r))
	}
	return nil
}

// undo deletes the Job of a run that did not start.
func (c *Cluster) undo(ctx context.Context, r Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
	defer cancel()
	if err := c.Delete(ctx, r); err != nil {
		return fmt.Errorf("deleting Job %s again: %w: if it is there, delete it: %s", r.Name, err, r.Deletion())
	}
	return nil
}

// Delete deletes the Job of a run with all that is its.
func (c *Cluster) Delete(ctx context.Context, r Run) error {
	all := c.client.BatchV1().Jobs(r.Namespace)
	job, err := all.Get(ctx, r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case job.Labels[existing.RunLabel] != r.Name:
		return fmt.Errorf("deleting Job %s/%s: it is not of this run: it has no label %s=%[2]s", r.Namespace, r.Name, existing.RunLabel)
	}
	err = all.Delete(ctx, r.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground), Preconditions: &metav1.Preconditions{UID: &job.UID}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// look reads the Job of a run, and its pods.
func (c *Cluster) look(ctx context.Context, r Run) (*batchv1.Job, []corev1.Pod, error) {
	job, err := c.client.BatchV1().Jobs(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		err = Over{fmt.Errorf("the Job is gone: somebody deleted it, it ended more than a day ago, or it was never made (%w)", err), true}
	}
	if err != nil {
		return nil, nil, err
	}
	pods, err := c.client.CoreV1().Pods(r.Namespace).List(ctx, metav1.ListOptions{LabelSelector: existing.RunLabel + "=" + r.Name})
	if err != nil {
		return nil, nil, err
	}
	return job, pods.Items, nil
}

// logs is what a pod says, until it ends.
func (c *Cluster) logs(ctx context.Context, r Run, pod string) (io.ReadCloser, error) {
	return c.client.CoreV1().Pods(r.Namespace).GetLogs(pod, &corev1.PodLogOptions{Container: containerName, Follow: true}).Stream(ctx)
}

// exec runs a command of skewrig in a pod, and gives its output away.
func (c *Cluster) exec(ctx context.Context, r Run, pod string, command []string, out io.Writer) error {
	url := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(r.Namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: containerName, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	overSPDY, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, url)
	if err != nil {
		return err
	}
	overWebSocket, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, url.String())
	if err != nil {
		return err
	}
	executor, err := remotecommand.NewFallbackExecutor(overWebSocket, overSPDY, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	var said bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: &said}); err != nil {
		return fmt.Errorf("%s in pod %s: %w%s", command, pod, err, because(said.String()))
	}
	return nil
}
