package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
)

func TestMocksBindClaimsAndBalance(t *testing.T) {
	t.Parallel()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "shop", UID: "1"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("fast"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
	api := fake.NewClientset(claim, service)
	m := startMocks(api)
	defer m.stop()
	ctx := context.Background()
	if !await.Until(ctx, 10*time.Second, func() bool {
		volumes, err := api.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		web, failed := api.CoreV1().Services("shop").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && failed == nil && len(volumes.Items) == 1 && volumes.Items[0].Spec.ClaimRef.UID == "1" &&
			volumes.Items[0].Spec.StorageClassName == "fast" && len(web.Status.LoadBalancer.Ingress) == 1
	}) {
		t.Error("no volume, or no address")
	}
}

func TestADrainLeavesPodsOfDaemonSets(t *testing.T) {
	t.Parallel()
	pod := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Spec: corev1.PodSpec{NodeName: "node-a"}}
		change(p)
		return p
	}
	api := fake.NewClientset(
		pod("web", func(*corev1.Pod) {}),
		pod("agent", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
		}),
		pod("static", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
		pod("job", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
	)
	all, err := evictable(context.Background(), api, "node-a")
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if err != nil || !slices.Equal(names, []string{"web"}) {
		t.Errorf("%v (%v)", names, err)
	}
}

func TestWebhooksAreServedOrLeftOut(t *testing.T) {
	t.Parallel()
	webhooks := func(service string) map[string]any {
		client := map[string]any{"service": map[string]any{"name": service, "namespace": "shop"}}
		return map[string]any{"kind": "MutatingWebhookConfiguration", "webhooks": []any{map[string]any{"clientConfig": client}}}
	}
	s := side{endpoints: map[string]rehearse.Endpoint{"shop/hooks": {Address: "127.0.0.1:9443"}}, Config: Config{Objects: []manifest.Object{
		{Object: webhooks("others")}, {Object: webhooks("hooks")},
		{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": map[string]any{
			"group": "g", "names": map[string]any{"kind": "K", "plural": "ks"}, "conversion": map[string]any{"strategy": "Webhook"},
		}}},
	}}}
	if all := s.accepted(); len(all) != 2 || len(s.stored.Inert) != 1 || len(s.stored.Mocked) != 1 {
		t.Errorf("%v, %+v", all, s.stored)
	}
	if observed := s.observed(); !slices.Contains(observed, "ks") {
		t.Errorf("%v", observed)
	}
}
