// Package skewtest gives tests a rig of real Kubernetes components: an API server, a
// controller manager, a scheduler and kubelets, each of its own release and with its own
// feature gates, in seconds, without containers and root. It is what envtest is, with
// nodes, controllers, releases and outages.
//
//	func TestOnAnOlderKubelet(t *testing.T) {
//		rig := skewtest.Start(t, skewtest.Topology{
//			Nodes: []skewtest.Node{{Name: "node-a", Version: "previous"}},
//		})
//		namespace := rig.Namespace(t)
//		... // create a pod with rig.Client()
//		app := rig.Pod(namespace, "web").Container("app")
//		if err := rig.Wait(t.Context(), app, skewtest.HavePassedProbe(skewtest.Liveness)); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// Start is for a *testing.T as well as for GinkgoTB(): in BeforeSuite, the rig is that of
// all specs, each of which takes a Namespace in BeforeEach, or calls Rig.Follow there.
// Shared is one rig for the tests of a package. The matchers are those of Gomega, which is
// not needed: Rig.Wait and Rig.Never take them, too. Scenarios runs scenario files, and
// reports their red checks as errors.
//
// The components are compiled from the modules of their releases, which takes minutes
// for each of them, once: MissingEnv says what happens to a test until then. docs/from-go.md
// is the guide. Linux only.
package skewtest
