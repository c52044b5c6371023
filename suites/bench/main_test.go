package bench

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestMain is also the process whose simulated nodes are measured.
func TestMain(m *testing.M) {
	if kubeconfig := os.Getenv(helperKubeconfig); kubeconfig != "" {
		fmt.Fprintln(os.Stderr, simulateNodes(kubeconfig))
		os.Exit(1)
	}
	m.Run()
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}
