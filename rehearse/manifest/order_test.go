package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrdered(t *testing.T) {
	t.Parallel()
	var documents []string
	add := func(apiVersion, kind, name string, annotations ...string) {
		documents = append(documents, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, annotations: {%s}}\n", apiVersion, kind, name, strings.Join(annotations, ", ")))
	}
	add("v1", "Pod", "after", `helm.sh/hook: post-install`)
	add("v1", "Pod", "before-2", `helm.sh/hook: pre-install`, `helm.sh/hook-weight: "2"`)
	add("v1", "Pod", "before-minus", `helm.sh/hook: "pre-install,pre-upgrade"`, `helm.sh/hook-weight: "-1"`)
	add("v1", "ConfigMap", "before-2-config", `helm.sh/hook: pre-install`, `helm.sh/hook-weight: "2"`)
	add("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook")
	add("networking.k8s.io/v1", "Ingress", "ingress")
	add("autoscaling/v2", "HorizontalPodAutoscaler", "scaler")
	add("serving.example.com/v1", "Service", "custom")
	add("apps/v1", "Deployment", "web")
	add("batch/v1", "Job", "job")
	add("v1", "Service", "service")
	add("rbac.authorization.k8s.io/v1", "RoleBinding", "binding")
	add("rbac.authorization.k8s.io/v1", "Role", "role")
	add("v1", "PersistentVolumeClaim", "claim")
	add("v1", "ConfigMap", "config-b")
	add("v1", "ConfigMap", "config-a")
	add("v1", "Secret", "secret")
	add("v1", "ServiceAccount", "account")
	add("storage.k8s.io/v1", "StorageClass", "class")
	add("v1", "Namespace", "namespace")
	add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "definition")
	objects, problems := Read("f", []byte(strings.Join(documents, "---\n")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	deleted := Object{Object: objects[0].Object, Hook: Hook{Events: []string{"post-delete"}}}
	var names []string
	for _, o := range Ordered(append(objects, deleted)) {
		names = append(names, nameOfObject(o))
	}
	want := strings.Fields("definition namespace before-minus before-2-config before-2 class account secret config-b config-a claim role binding service web job custom scaler ingress hook after")
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if nameOfObject(objects[0]) != "after" {
		t.Error("the input was sorted too")
	}
}
