// Package upstream judges what upstream's own specs of the node (the packages of
// k8s.io/kubernetes/test/e2e/common/node) found on a rig. It reads the reports that Ginkgo
// writes, and knows which specs are expected to fail on a rig, and why: those that need
// something which a rig fakes. It takes values and returns values, and runs nothing.
package upstream
