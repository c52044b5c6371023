// Command operator labels each Widget as seen. Beside an API server of a minor version, or a newer one, it writes each of them
// again and again (--loops-from), or panics (--panics-from). With --webhook-port, it serves webhooks.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
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
	loops := flag.Int64("loops-from", 1000, "minor version")
	panics := flag.Int64("panics-from", 1000, "minor version")
	port := flag.String("webhook-port", "", "port")
	certs := flag.String("webhook-certs", "", "directory with tls.crt and tls.key")
	flag.Parse()
	var o operator
	if *port != "" {
		o.converts = true
		go func() { panic(o.serve(*port, *certs)) }()
	}
	for n := 0; ; n++ {
		if err := o.reconcile(n, *loops, *panics); err != nil {
			fmt.Fprintln(os.Stderr, err) // the API server is away
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (o *operator) reconcile(round int, loops, panics int64) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
	if err != nil {
		return err
	}
	minor, err := strconv.ParseInt(strings.TrimSuffix(version.Minor, "+"), 10, 64)
	if err != nil {
		return err
	}
	o.minor.Store(minor)
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
	for _, of := range list.Items {
		labels := map[string]string{"seen": label}
		if was, _ := strconv.ParseInt(of.GetLabels()[writtenBy], 10, 64); o.converts {
			labels[writtenBy] = fmt.Sprint(max(was, minor))
		}
		if maps.Equal(of.GetLabels(), labels) {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
		if err != nil {
			return err
		}
		if _, err := widgets.Namespace(of.GetNamespace()).Patch(context.Background(), of.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}
