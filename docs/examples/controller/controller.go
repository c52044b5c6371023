// Package controller is a small controller, to be tested on a rig: it has the gRPC
// readiness probes of Deployments use TLS, which API servers before v1.37 don't know.
package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

const (
	// Marker is the label of the Deployments that the controller is for.
	Marker = "example.dev/probe-tls"
	// DroppedBy is the annotation with the release of the API server that dropped the
	// field. Without it, the controller would write the field again with each event.
	DroppedBy = "example.dev/dropped-by"
)

// Run reconciles Deployments until the context ends.
func Run(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = Marker }))
	reconcile := func(obj any) {
		if d, is := obj.(*appsv1.Deployment); is {
			_ = Reconcile(ctx, client, d.DeepCopy()) // again with the next resync
		}
	}
	_, err := factory.Apps().V1().Deployments().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: reconcile, UpdateFunc: func(_, obj any) { reconcile(obj) },
	})
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// Reconcile has the probes of a Deployment use TLS.
func Reconcile(ctx context.Context, client kubernetes.Interface, d *appsv1.Deployment) error {
	if usesTLS(d) {
		return nil
	}
	server, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server for its release: %w", err)
	}
	if d.Annotations[DroppedBy] == server.GitVersion {
		return nil // it would drop the field again
	}
	for _, probe := range probes(d) {
		probe.GRPC.Mode = new(corev1.GRPCProbeModeTLS)
	}
	updated, err := client.AppsV1().Deployments(d.Namespace).Update(ctx, d, metav1.UpdateOptions{})
	if err != nil || usesTLS(updated) {
		return err
	}
	metav1.SetMetaDataAnnotation(&updated.ObjectMeta, DroppedBy, server.GitVersion)
	_, err = client.AppsV1().Deployments(d.Namespace).Update(ctx, updated, metav1.UpdateOptions{})
	return err
}

// probes are the gRPC readiness probes of a Deployment.
func probes(d *appsv1.Deployment) (all []*corev1.Probe) {
	for _, c := range d.Spec.Template.Spec.Containers {
		if c.ReadinessProbe != nil && c.ReadinessProbe.GRPC != nil {
			all = append(all, c.ReadinessProbe)
		}
	}
	return all
}

func usesTLS(d *appsv1.Deployment) bool {
	for _, probe := range probes(d) {
		if probe.GRPC.Mode == nil || *probe.GRPC.Mode != corev1.GRPCProbeModeTLS {
			return false
		}
	}
	return true
}
