// Package mask is field masks over the pods of core/v1: lists of paths, such as
// metadata.name,status.phase, that say which fields of a pod a client wants. A
// mask works on a pod's bytes as they go over the wire, so that what is left out
// costs next to nothing: it is skipped, and neither decoded nor encoded again.
//
// The names are those of k8s.io/api/core/v1/generated.proto, which are nearly
// always those of JSON too; where Go and JSON embed one message into another,
// protobuf nests it, as in spec.volumes.volumeSource.hostPath.
//
// A path goes through a list of messages into each of them, as in
// spec.containers.name. This is more than google.protobuf.FieldMask allows, in
// which only the last field of a path may be repeated: without it, the name of
// a container could only be had with all the rest of it. A map, such as labels,
// is kept or left out whole, and so is a time, a quantity, or an int-or-string.
//
// A message on the way to a named field is kept, if only as an empty one: a client
// sees whether a container has a probe, and how many containers a pod has, even if
// none of the named fields is set.
package mask

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// MetadataKey is the key of the gRPC metadata under which a client sends its
// field mask. The values of a key that is sent more than once count as one, with
// commas in between. KEP-4188 says that masks are in the metadata, and not under
// which key; no released kubelet reads any.
const MetadataKey = "field-mask"

// MaxBytes is the longest text that Parse takes.
const MaxBytes = 8 << 10

// Everything is the text of a mask that keeps all fields.
const Everything = "*"

// Mask says which fields of a pod are kept. The zero Mask keeps all. A Mask
// never changes, and may be used by many goroutines.
type Mask struct{ root *node }

// node is what a mask keeps of a message. It never changes once it is made.
type node struct {
	message *message
	// kept has, by its number, what is kept of a field: nothing if it is nil,
	// all if it is whole.
	kept []*node
}

// whole is what is kept of a field that is named itself.
var whole = &node{}

// child returns what is kept of the field with a number.
func (n *node) child(number protowire.Number) *node {
	if int(number) < len(n.kept) {
		return n.kept[number]
	}
	return nil
}

// with returns a node that keeps of one field of a message what is given, and
// nothing else.
func (m *message) with(f *field, kept *node) *node {
	n := &node{message: m, kept: make([]*node, m.last+1)}
	n.kept[f.number] = kept
	return n
}

// All reports whether the mask keeps everything, fields included that this
// program doesn't know.
func (m Mask) All() bool { return m.root == nil }

// Union returns the mask that keeps what either keeps.
func (m Mask) Union(other Mask) Mask {
	if m.All() || other.All() {
		return Mask{}
	}
	return Mask{union(m.root, other.root)}
}

func union(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a == whole || b == whole:
		return whole
	}
	both := &node{message: a.message, kept: slices.Clone(a.kept)}
	for number, kept := range b.kept {
		both.kept[number] = union(both.kept[number], kept)
	}
	return both
}

// String returns the paths of the mask in order, none of which is part of
// another. Parse makes the same mask of it.
func (m Mask) String() string {
	if m.All() {
		return Everything
	}
	return strings.Join(m.root.paths(nil, ""), ",")
}

func (n *node) paths(paths []string, prefix string) []string {
	for _, f := range n.message.fields {
		switch kept := n.kept[f.number]; kept {
		case nil:
		case whole:
			paths = append(paths, prefix+f.name)
		default:
			paths = kept.paths(paths, prefix+f.name+".")
		}
	}
	return paths
}
