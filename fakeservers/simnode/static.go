package simnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Annotations of static pods and their mirror pods. They are a kubelet's.
const (
	configHashKey   = "kubernetes.io/config.hash"
	configSourceKey = "kubernetes.io/config.source"
	configMirrorKey = "kubernetes.io/config.mirror"
)

// manifestsEvery is how often manifests are read: a kubelet's FileCheckFrequency,
// as conformance rigs set it.
const manifestsEvery = time.Second

// watchManifests tells of the static pods when they change.
func (n *Node) watchManifests(ctx context.Context) {
	tick := time.NewTicker(manifestsEvery)
	defer tick.Stop()
	var last []*corev1.Pod
	for first := true; ; {
		pods, err := readManifests(n.cfg.StaticPods, n.cfg.Name)
		if err == nil && (first || !equality.Semantic.DeepEqual(pods, last)) {
			n.tell(ctx, func() { n.manifests, n.heard[files] = pods, true })
			first, last = false, pods
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// readManifests returns the pods of the manifests in a directory, which need not
// exist. Like a kubelet, it passes over what it can't read as a pod; of two pods of
// one name, it takes the first.
func readManifests(dir, node string) ([]*corev1.Pod, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var pods []*corev1.Pod
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone by now, most likely
		}
		pod, err := parseManifest(data, path, node)
		if err != nil || slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return key(p) == key(pod) }) {
			continue
		}
		pods = append(pods, pod)
	}
	return pods, err
}

// parseManifest makes a manifest the static pod of a node.
func parseManifest(data []byte, path, node string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := yaml.Unmarshal(data, pod); err != nil {
		return nil, err
	}
	if pod.Kind != "Pod" || pod.Name == "" || len(pod.Spec.Containers) == 0 {
		return nil, errors.New("it is not a pod, or one without name or containers")
	}
	hash, err := manifestHash(pod, path, node)
	if err != nil {
		return nil, err
	}
	pod.TypeMeta = metav1.TypeMeta{}
	pod.Name += "-" + strings.ToLower(node)
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	if pod.UID == "" {
		pod.UID = types.UID(hash)
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, configHashKey, hash)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, configSourceKey, "file")
	pod.Spec.NodeName = node
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	setDefaults(&pod.Spec)
	return pod, nil
}

// manifestHash tells apart what a manifest says, on each node and in each file. It
// has the length of a kubelet's.
func manifestHash(pod *corev1.Pod, path, node string) (string, error) {
	content, err := json.Marshal(pod)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(slices.Concat(content, []byte("\x00"+node+"\x00"+path)))
	return hex.EncodeToString(sum[:16]), nil
}

// mirrors reports whether m is the mirror pod of a static pod as it is now.
func mirrors(m, static *corev1.Pod) bool {
	return m != nil && m.DeletionTimestamp == nil && m.Annotations[configMirrorKey] == static.Annotations[configHashKey]
}

// mirrorOf is a static pod as the API server gets to see it.
func mirrorOf(static *corev1.Pod, node string, uid types.UID) *corev1.Pod {
	m := static.DeepCopy()
	m.UID = ""
	m.Annotations[configMirrorKey] = m.Annotations[configHashKey]
	controls := true
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: uid, Controller: &controls}}
	return m
}
