package build

import _ "embed"

// hostnameFile is compiled with the main of an API server. By it, each of several on one machine
// has an identity of its own, as on machines of their own.
//
//go:embed hostname.go.txt
var hostnameFile []byte

// hostnamePath is where that file is in the release's module.
const hostnamePath = "cmd/kube-apiserver/skewrig_hostname.go"

// HostName is the environment of an API server by which it takes itself to be on a host of that
// name. It makes its identity from that (KEP-1965). If unset, it is on the machine that it is on.
func HostName(name string) string { return "SKEWRIG_HOSTNAME=" + name }
