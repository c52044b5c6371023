package existing

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
)

// Log is the output of a container, from its beginning, or of the run before the one that runs or ran last.
// If follow is true, it goes on until the run ends.
func (c *Cluster) Log(ctx context.Context, namespace, pod, container string, previous, follow bool) (io.ReadCloser, error) {
	return c.client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, Previous: previous, Follow: follow}).Stream(ctx)
}
