// Package skewrig has the sources of the module that are compiled into something
// else than a program of the module.
package skewrig

import "embed"

// PodsAPI is the reference server of the kubelet's Pods API with what it imports,
// and the file by which a kubelet uses it. Package build makes the reference of them.
//
//go:embed podsapi/server podsapi/mask harness/unixsocket harness/spelling
var PodsAPI embed.FS

// Container is the program in the images that real containers run, with what it imports
// of this module. Package build compiles it for the containers of a node.
//
//go:embed go.mod go.sum cmd/container/*.go record/*.go
//go:embed fakeservers/agnhost/*.go fakeservers/behavior/*.go fakeservers/container/*.go fakeservers/image/*.go fakeservers/server/*.go fakeservers/shell/*.go
//go:embed harness/await/*.go harness/clock/*.go harness/files/*.go harness/peer/*.go harness/pki/*.go harness/process/*.go harness/process/*.sh harness/program/*.go harness/spelling/*.go
//go:embed harness/release/*.go harness/release/gates
var Container embed.FS
