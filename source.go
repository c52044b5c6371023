// Package skewrig has the sources of the module that are compiled into something
// else than a program of the module.
package skewrig

import "embed"

// PodsAPI is the reference server of the kubelet's Pods API with what it imports,
// and the file by which a kubelet uses it. Package build makes the reference of them.
//
//go:embed podsapi/server podsapi/mask harness/unixsocket harness/spelling
var PodsAPI embed.FS
