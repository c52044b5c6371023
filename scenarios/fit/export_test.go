package fit

import "slices"

// KnownStep and KnownVariable report whether this package knows what a kind of step does, and
// where what a variable has is recorded.
func KnownStep(kind string) bool {
	_, known := ofRig[kind]
	return known || slices.Contains(onCluster, kind)
}

// KnownVariable is described at KnownStep.
func KnownVariable(name string) bool {
	_, known := rigOnly[name]
	return known || name == "containers" || slices.Contains(recorded, name) || slices.Contains(ofSteps, name)
}
