package controller

import (
	"context"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/skewtest"
)

var rig *skewtest.Rig

func TestController(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	RunSpecs(t, "controller")
}

// A whole cluster of the previous release, and an image whose server speaks gRPC with and
// without TLS.
var _ = BeforeSuite(func() {
	rig = skewtest.Start(GinkgoTB(), skewtest.Topology{
		ControlPlane: skewtest.ControlPlane{Version: "previous"},
		Nodes:        []skewtest.Node{{Name: "node-a", Version: "previous"}},
		Images: []skewtest.Image{{
			Image:  "registry.example/payments",
			Listen: []skewtest.Listener{{Port: 8443, Protocol: "grpc+grpc-tls"}},
		}},
		Clients: []string{"controller"},
	})
	config, err := rig.ClientConfig("controller")
	Expect(err).NotTo(HaveOccurred())
	config.WarningHandler = rest.NoWarnings{} // that fields are unknown
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- Run(ctx, client) }()
	DeferCleanup(func() {
		cancel()
		Expect(<-ended).NotTo(HaveOccurred())
	})
})

var _ = Describe("the controller", Ordered, func() {
	var namespace string
	BeforeEach(func() { namespace = rig.Namespace(GinkgoTB()) })

	It("does not write again and again what an older API server drops", func(ctx SpecContext) {
		create(ctx, namespace)
		Eventually(annotation).WithArguments(ctx, namespace).Should(Equal(string(rig.Component("kube-apiserver").Version())))
		Eventually(func(g Gomega) {
			written := writes()
			g.Consistently(writes, 3*time.Second).Should(Equal(written)) // three resyncs; a write that was under way is no loop
		}).Should(Succeed(), "it goes on writing")
		Eventually(podOf).WithArguments(ctx, namespace).Should(skewtest.BeReady())
		Expect(podOf(ctx, namespace).Container("app")).To(skewtest.HaveConnection(skewtest.HTTP2), "the probe is in plaintext")
	})

	It("catches up after an outage", func(ctx SpecContext) {
		Expect(rig.Cut("controller")).To(Succeed())
		create(ctx, namespace)
		Consistently(annotation, 3*time.Second).WithArguments(ctx, namespace).Should(BeEmpty())
		Expect(rig.Heal("controller")).To(Succeed())
		Eventually(annotation).WithArguments(ctx, namespace).ShouldNot(BeEmpty())
	})

	It("writes the field once the cluster is upgraded", func(ctx SpecContext) {
		create(ctx, namespace)
		Eventually(annotation).WithArguments(ctx, namespace).ShouldNot(BeEmpty())
		newest := skewtest.Change{Version: "newest", Gates: skewtest.Gates{"GRPCContainerProbeTLS": true}}
		Expect(rig.Restart(ctx, "control-plane", newest)).To(Succeed())
		Expect(rig.Restart(ctx, "node-a", newest)).To(Succeed())
		Eventually(func() *skewtest.Container { return podOf(ctx, namespace).Container("app") }).Should(skewtest.HaveConnection(skewtest.TLS))
	})
})

// create creates a Deployment of one pod, with a gRPC probe.
func create(ctx context.Context, namespace string) {
	GinkgoHelper()
	labels := map[string]string{Marker: "", "app": "payments"}
	_, err := rig.Client().AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "payments", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "app", Image: "registry.example/payments:1.0",
					ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 8443}}},
				}}},
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// annotation is the release that dropped the field, as the controller found it.
func annotation(ctx context.Context, namespace string) (string, error) {
	d, err := rig.Client().AppsV1().Deployments(namespace).Get(ctx, "payments", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return d.Annotations[DroppedBy], nil
}

// podOf is the newest pod of the Deployment.
func podOf(ctx context.Context, namespace string) *skewtest.Pod {
	GinkgoHelper()
	pods, err := rig.Client().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	name, newest := "", metav1.Time{}
	for _, p := range pods.Items {
		if !p.CreationTimestamp.Before(&newest) {
			name, newest = p.Name, p.CreationTimestamp
		}
	}
	return rig.Pod(namespace, name)
}

// writes is how often the controller has written.
func writes() (count int) {
	for _, r := range rig.Requests("controller") {
		if r.Method == http.MethodPut {
			count++
		}
	}
	return count
}
