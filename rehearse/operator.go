package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Operator is a program that acts on the objects: it stands for the pods of a workload of the input.
type Operator struct {
	// Name is that of the workload, Path is the program, or PACKAGE@VERSION of one that is compiled, and Args are its arguments.
	Name string
	Path string
	Args []string
	// InCluster is true if the program finds the API server and its token as in a pod (build.ServiceAccountDir). If unset, it
	// finds a kubeconfig.
	InCluster bool
	// Namespace and Account are those of the pods: the program has the rights of this ServiceAccount.
	Namespace, Account string
	// Services are those of its webhooks, by namespace and name. If unset, it serves none.
	Services []string
}

// ParseOperator reads an operator, NAME=PROGRAM [ARGUMENT...] or NAME=PACKAGE@VERSION [ARGUMENT...], whose arguments are parted by spaces.
func ParseOperator(text string) (o Operator, _ error) {
	name, command, _ := strings.Cut(text, "=")
	words := strings.Fields(command)
	if name == "" || len(words) == 0 {
		return o, fmt.Errorf("%q is not NAME=PROGRAM [ARGUMENT...], such as shop-operator=./bin/shop-operator", text)
	}
	return Operator{Name: name, Path: words[0], Args: words[1:]}, nil
}

// For returns the operator with the namespace and the ServiceAccount of its workload among objects, and the Services of its pods
// if it serves webhooks.
func (o Operator) For(objects []map[string]any) (Operator, error) {
	var names []string
	for _, object := range objects {
		spec := kube.PodSpec(object)
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		if spec == nil {
			continue
		}
		if name == o.Name {
			o.Namespace, o.Account = namespaceOf(metadata), "default"
			if account, is := spec["serviceAccountName"].(string); is && account != "" {
				o.Account = account
			}
			if o.servesWebhooks() {
				labels, _, _ := unstructured.NestedStringMap(object, append(kube.PodTemplate(object), "metadata", "labels")...)
				if o.Services = servicesOf(objects, o.Namespace, labels); len(o.Services) == 0 {
					return o, fmt.Errorf("it is given $(%s), and the input has no Service that selects its pods: API servers could not ask its webhooks", WebhookPort)
				}
			}
			return o, nil
		}
		names = append(names, name)
	}
	slices.Sort(names)
	hint := ""
	if near := spelling.Closest(o.Name, names); len(near) > 0 {
		hint = ": did you mean " + near[0] + "?"
	}
	return o, fmt.Errorf("the input has no workload called %q, for which a program could stand%s", o.Name, hint)
}
