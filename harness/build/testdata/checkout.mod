module k8s.io/kubernetes

go 1.26.0

godebug default=go1.26

require (
	example.org/b v1.2.3
	k8s.io/api v0.0.0
)

require example.org/c v1.0.0 // indirect

replace (
	example.org/b => example.org/fork v1.2.4
	example.org/c v1.0.0 => /elsewhere/c
	k8s.io/api => ./staging/src/k8s.io/api
)

replace k8s.io/kubelet => ./staging/src/k8s.io/kubelet
