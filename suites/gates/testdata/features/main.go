// Command features prints what a release of Kubernetes says of its feature gates: a line
// for each with its name, whether it is locked to its default, and the gates that it
// depends on. It is compiled with the lock of the release.
package main

import (
	"fmt"

	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	_ "k8s.io/kubernetes/pkg/features"
)

func main() {
	gates := feature.DefaultMutableFeatureGate
	var needs map[featuregate.Feature][]featuregate.Feature
	// Releases have dependencies since v1.35.
	if d, has := gates.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); has {
		needs = d.Dependencies()
	}
	for name, spec := range gates.GetAll() {
		fmt.Println(name, spec.LockToDefault, needs[name])
	}
}
