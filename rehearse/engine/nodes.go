package engine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
)

// changeNodes changes the nodes to a release, one after the other: the first is drained, the others keep their pods.
func (s *side) changeNodes(ctx context.Context, as release.Version, seen *rehearse.StageSeen) error {
	for i, node := range nodeNames {
		drained := i == 0
		if drained {
			if err := s.drain(ctx, node, seen); err != nil {
				return fmt.Errorf("draining %s: %w", node, err)
			}
		}
		if err := s.restart(ctx, as, "kubelet/"+node); err != nil {
			return err
		}
		if drained {
			if err := s.cordon(ctx, node, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *side) cordon(ctx context.Context, node string, off bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, off)
	_, err := s.cluster.Client().CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// drainLimit is how long a drain waits for a pod that can't be evicted, and for those that were to go.
const drainLimit = 20 * time.Second

// drain evicts the pods of a node, as kubectl drain does, but for those of DaemonSets.
func (s *side) drain(ctx context.Context, node string, seen *rehearse.StageSeen) error {
	if err := s.cordon(ctx, node, true); err != nil {
		return err
	}
	seen.Evicted = make(map[string]bool)
	for until := time.Now().Add(drainLimit); ; {
		left, err := evictable(ctx, s.cluster.Client(), node)
		if err != nil {
			return err
		}
		refused := make(map[string]string)
		for _, pod := range left {
			name := pod.Namespace + "/" + pod.Name
			if err := s.evict(ctx, pod); err != nil {
				refused[name] = err.Error()
			} else {
				seen.Evicted[name] = true
			}
		}
		if len(left) == 0 || time.Now().After(until) {
			seen.Evictions = refused
			return nil
		}
		if err := ask.Sleep(ctx, often); err != nil {
			return err
		}
	}
}

// evictable are the pods of a node that a drain evicts.
func evictable(ctx context.Context, api kubernetes.Interface, node string) (all []corev1.Pod, _ error) {
	pods, err := api.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return nil, err
	}
	for _, pod := range pods.Items {
		owner := metav1.GetControllerOf(&pod)
		_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
		if owner != nil && owner.Kind == "DaemonSet" || mirror || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		all = append(all, pod)
	}
	return all, nil
}

// evict evicts a pod, unless it is about to go.
func (s *side) evict(ctx context.Context, pod corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err := s.cluster.Client().PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
