// Command operator labels each Widget as seen. Beside an API server of a minor version, or a newer one, it writes each of them
// again and again (--loops-from), or panics (--panics-from).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	loops := flag.Int("loops-from", 1000, "minor version")
	panics := flag.Int("panics-from", 1000, "minor version")
	flag.Parse()
	for n := 0; ; n++ {
		if err := reconcile(n, *loops, *panics); err != nil {
			fmt.Fprintln(os.Stderr, err) // the API server is away
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func reconcile(round, loops, panics int) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
	if err != nil {
		return err
	}
	minor, err := strconv.Atoi(strings.TrimSuffix(version.Minor, "+"))
	if err != nil {
		return err
	}
	if minor >= panics {
		panic(fmt.Sprintf("1.%d is not known", minor))
	}
	label := "yes"
	if minor >= loops {
		label = fmt.Sprint("round-", round)
	}
	widgets := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	list, err := widgets.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, w := range list.Items {
		if w.GetLabels()["seen"] == label {
			continue
		}
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"seen":%q}}}`, label)
		if _, err := widgets.Namespace(w.GetNamespace()).Patch(context.Background(), w.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}
