package existing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// RunLabel is the label of what a run made in a cluster: namespaces, or a Job with all that it has. Its value is the
// run's id.
const RunLabel = "skewrig.dev/run"

const (
	// newLimit is how long what a controller manager makes in a new namespace may take, and
	// goneLimit a namespace to be gone that is deleted: pods have half a minute to end,
	// unless they say otherwise.
	newLimit, goneLimit = 30 * time.Second, 3 * time.Minute
	// newPoll and gonePoll are how often to look.
	newPoll, gonePoll = 100 * time.Millisecond, 500 * time.Millisecond
)

// MakeNamespace makes a namespace that is not there yet, and returns when pods can be made in
// it: admission refuses them without the account that they run as.
func (c *Cluster) MakeNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{RunLabel: c.run}}}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// An interrupt does not end the request: one that was sent may be carried out after the
	// namespace was looked for to delete it.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
	defer cancel()
	if _, err := c.client.CoreV1().Namespaces().Create(whole, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("making namespace %s: %w", name, err)
	}
	const account = "default"
	return awaitNew(ctx, "service account "+account, name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts(name).Get(ctx, account, metav1.GetOptions{})
		return err
	})
}

// AwaitNamespaces returns when a controller manager has created what pods need in the namespaces: the config map with
// the root certificate, without which they can't trust the API server.
func (c *Cluster) AwaitNamespaces(ctx context.Context, names []string) error {
	const trusted = "kube-root-ca.crt"
	for _, name := range names {
		err := awaitNew(ctx, "config map "+trusted, name, func(ctx context.Context) error {
			_, err := c.client.CoreV1().ConfigMaps(name).Get(ctx, trusted, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitNew returns when what a controller manager makes in a new namespace is there.
func awaitNew(ctx context.Context, what, namespace string, get func(context.Context) error) error {
	err := wait.PollUntilContextTimeout(ctx, newPoll, newLimit, true, func(ctx context.Context) (bool, error) {
		err := get(ctx)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = fmt.Errorf("it is not there after %s: does the cluster have a controller manager?", newLimit)
	}
	if err != nil {
		return fmt.Errorf("waiting for the %s of namespace %s: %w", what, namespace, errors.Join(err, ended(ctx)))
	}
	return nil
}

// DeleteNamespaces deletes namespaces that this run made, and returns when they are gone. Those
// that are not there count as gone, and those of others stay.
func (c *Cluster) DeleteNamespaces(ctx context.Context, names []string) error {
	failures := make([]error, len(names))
	var deleting sync.WaitGroup
	for i, name := range names {
		deleting.Go(func() { failures[i] = c.deleteNamespace(ctx, name) })
	}
	deleting.Wait()
	return errors.Join(failures...)
}

func (c *Cluster) deleteNamespace(ctx context.Context, name string) error {
	all := c.client.CoreV1().Namespaces()
	began := time.Now()
	var last *corev1.Namespace
	var failed error // what was tried last
	err := wait.PollUntilContextTimeout(ctx, gonePoll, goneLimit, true, func(ctx context.Context) (bool, error) {
		found, err := all.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && found.Labels[RunLabel] != c.run {
			return true, nil
		}
		if err == nil {
			last = found
		}
		if err == nil && found.DeletionTimestamp == nil {
			err = all.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &found.UID}})
		}
		if ctx.Err() == nil { // otherwise, nothing but the end of the time has failed
			failed = err
		}
		return false, nil // what has failed is tried again
	})
	waited := time.Since(began).Round(time.Second)
	switch {
	case err == nil:
		return nil
	case failed != nil:
		return fmt.Errorf("deleting namespace %s: %w, also after %s: delete it with kubectl delete namespace %s", name, failed, waited, name)
	}
	return fmt.Errorf("namespace %s is still there after %s%s: delete it with kubectl delete namespace %s", name, waited, holding(last), name)
}

// holding is what holds up the end of a namespace, as far as it says so.
func holding(namespace *corev1.Namespace) string {
	if namespace == nil {
		return ": the API server does not answer"
	}
	var said []string
	for _, c := range namespace.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" {
			said = append(said, c.Message)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}
