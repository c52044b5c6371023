package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/skewrig/skewrig/harness/strict"
)

// configurations are the API groups of files that a program reads and no API server stores, with the advice.
var configurations = map[string]string{
	"kustomize.config.k8s.io":      "a file of kustomize: render it with kustomize build",
	"skaffold":                     "a configuration of skaffold: render it with skaffold render",
	"kind.x-k8s.io":                "a configuration of kind",
	"k3d.io":                       "a configuration of k3d",
	"kubeadm.k8s.io":               "a configuration of kubeadm",
	"kubelet.config.k8s.io":        "a configuration of the kubelet",
	"kubeproxy.config.k8s.io":      "a configuration of kube-proxy",
	"kubescheduler.config.k8s.io":  "a configuration of kube-scheduler",
	"apiserver.config.k8s.io":      "a configuration of kube-apiserver",
	"audit.k8s.io":                 "a configuration of kube-apiserver",
	"client.authentication.k8s.io": "a credential of kubectl",
}

// notKubernetes returns why a document is no object of an API server, or "".
func notKubernetes(object map[string]any) string {
	kind, apiVersion := object["kind"], object["apiVersion"]
	group, _ := groupVersion(text(object, "apiVersion"))
	what, isConfiguration := configurations[group]
	switch {
	case object["sops"] != nil:
		return "encrypted by SOPS: decrypt it with sops -d first"
	case isConfiguration:
		return "not a Kubernetes object but " + what
	case kind == "Config" && apiVersion == "v1":
		return "not a Kubernetes object but a kubeconfig"
	case kind == nil || kind == "":
		return "not a Kubernetes object: it has no kind"
	case apiVersion == nil || apiVersion == "":
		return "not a Kubernetes object: it has no apiVersion"
	}
	return ""
}

func groupVersion(apiVersion string) (group, version string) {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", apiVersion
	}
	return group, version
}

// invalid returns why an API server refuses an object by its name or kind.
func invalid(object map[string]any) (whys []string) {
	refuse := func(format string, args ...any) { whys = append(whys, fmt.Sprintf(format, args...)) }
	kind, is := object["kind"].(string)
	if !is || len(validation.IsDNS1035Label(strings.ToLower(kind))) > 0 {
		refuse("unsupported kind %s", quoted(object["kind"]))
	}
	apiVersion, is := object["apiVersion"].(string)
	group, version := groupVersion(apiVersion)
	if !is || len(validation.IsDNS1035Label(version)) > 0 || strings.Contains(apiVersion, "/") && len(validation.IsDNS1123Subdomain(group)) > 0 {
		refuse("unsupported apiVersion %s", quoted(object["apiVersion"]))
	}
	metadata, is := object["metadata"].(map[string]any)
	if !is {
		refuse("metadata is required")
		return whys
	}
	whys = append(whys, invalidName(metadata)...)
	if namespace := metadata["namespace"]; namespace != nil && namespace != "" {
		if name, is := namespace.(string); !is || len(validation.IsDNS1123Label(name)) > 0 {
			refuse("unsupported namespace %s%s", quoted(namespace), unrendered(namespace))
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		whys = append(whys, notTexts(metadata, field)...)
	}
	return whys
}

// maxName is the length of the longest name of an object.
const maxName = 253

func invalidName(metadata map[string]any) (whys []string) {
	name, is := metadata["name"].(string)
	switch {
	case metadata["name"] == nil || is && name == "":
		if metadata["generateName"] != nil {
			return []string{"metadata.name is required: each kubectl create makes another object of metadata.generateName"}
		}
		return []string{"metadata.name is required"}
	case !is:
		return []string{fmt.Sprintf("metadata.name must be a string, not %s: put it in quotes", quoted(metadata["name"]))}
	case len(name) > maxName:
		return []string{fmt.Sprintf("metadata.name must be at most %d characters", maxName)}
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }):
		return []string{fmt.Sprintf("metadata.name %s has characters that no name may have%s", strict.Quote(name), unrendered(name))}
	}
	for _, why := range content.IsPathSegmentName(name) {
		whys = append(whys, fmt.Sprintf("metadata.name %s %s", strict.Quote(name), why))
	}
	return whys
}

// unrendered is the advice for a value that is a template.
func unrendered(value any) string {
	if name, is := value.(string); is && isTemplate([]byte(name)) {
		return ": " + aTemplate
	}
	return ""
}

// notTexts returns which labels or annotations are numbers or booleans, which API servers refuse.
func notTexts(metadata map[string]any, field string) (whys []string) {
	entries, is := metadata[field].(map[string]any)
	if !is && metadata[field] != nil {
		return []string{fmt.Sprintf("metadata.%s must be an object, not %s", field, typeOf(metadata[field]))}
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if _, is := entries[key].(string); !is && entries[key] != nil {
			whys = append(whys, fmt.Sprintf("metadata.%s[%s] must be a string, not %s: put it in quotes", field, strict.Quote(key), quoted(entries[key])))
		}
	}
	return whys
}

// quoted is a value for a message.
func quoted(value any) string {
	switch value := value.(type) {
	case string:
		return strict.Quote(value)
	case nil, bool, int64, float64:
		return fmt.Sprint(value)
	}
	return typeOf(value)
}
