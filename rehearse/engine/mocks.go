package engine

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/skewrig/skewrig/scenarios/ask"
)

// mocks does what a cloud does for a cluster: claims get volumes, and load balancers get addresses. While no API server
// answers, it waits.
type mocks struct {
	api     kubernetes.Interface
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func startMocks(api kubernetes.Interface) *mocks {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mocks{api: api, cancel: cancel}
	m.running.Go(func() {
		for ask.Sleep(ctx, often) == nil {
			_ = m.bindClaims(ctx) // the next round tries again
			_ = m.balance(ctx)
		}
	})
	return m
}

func (m *mocks) stop() {
	m.cancel()
	m.running.Wait()
}

// bindClaims makes a volume for each claim that waits for one.
func (m *mocks) bindClaims(ctx context.Context) error {
	claims, err := m.api.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for _, claim := range claims.Items {
		if claim.Status.Phase == corev1.ClaimBound || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Spec.Selector != nil {
			continue
		}
		if _, err := m.api.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// volumeFor is a volume that is the claim's alone: a directory of the node's mock file system.
func volumeFor(claim corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	name := "mock-" + claim.Namespace + "-" + claim.Name
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name[:min(len(name), 253)]},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode, StorageClassName: class,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mock-volumes/" + claim.Namespace + "-" + claim.Name, Type: new(corev1.HostPathDirectoryOrCreate)}},
		},
	}
}

// address is that of each load balancer: one for documentation (RFC 5737).
const address = "192.0.2.1"

// balance gives load balancers an address.
func (m *mocks) balance(ctx context.Context) error {
	services, err := m.api.CoreV1().Services("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for _, service := range services.Items {
		has := slices.ContainsFunc(service.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) bool { return i.IP == address })
		if service.Spec.Type != corev1.ServiceTypeLoadBalancer || has || service.DeletionTimestamp != nil {
			continue
		}
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
		if _, err := m.api.CoreV1().Services(service.Namespace).UpdateStatus(ctx, &service, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
