package mask

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is what a field holds, as far as paths are concerned.
type kind int

const (
	// scalar is a number, a string, bytes, or a list of these.
	scalar kind = iota
	// value is a message that means something as a whole only, such as a time.
	value
	// table is a map.
	table
	// nested is a message, or a list of them, with fields that can be named.
	nested
)

// message is a protobuf message of core/v1.
type message struct {
	// name is that of the Go type, which is the message's own.
	name string
	// fields are those of the message, in the order of their names.
	fields []*field
	// last is the highest number of a field.
	last protowire.Number
}

// field is a field of a message.
type field struct {
	name    string
	number  protowire.Number
	kind    kind
	message *message // of a nested field
}

// values are the messages of which no part makes sense without the rest.
var values = []reflect.Type{
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[metav1.MicroTime](),
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
}

// podMessage returns the message of a pod. It is made from the tags of the Go
// types, which are made from the same source as generated.proto, so it is never
// behind the version of core/v1 that this program is built with.
var podMessage = sync.OnceValue(func() *message {
	return messageOf(reflect.TypeFor[corev1.Pod](), map[reflect.Type]*message{})
})

func messageOf(t reflect.Type, known map[reflect.Type]*message) *message {
	if m := known[t]; m != nil {
		return m
	}
	m := &message{name: t.Name()}
	known[t] = m
	for in := range t.Fields() {
		f := fieldOf(in, known)
		if f == nil {
			continue
		}
		m.fields = append(m.fields, f)
		m.last = max(m.last, f.number)
	}
	slices.SortFunc(m.fields, func(a, b *field) int { return strings.Compare(a.name, b.name) })
	return m
}

// fieldOf returns the field that a field of a Go type stands for, or nil for
// one that isn't on the wire, as that of TypeMeta.
func fieldOf(in reflect.StructField, known map[reflect.Type]*message) *field {
	number, name := parseTag(in.Tag.Get("protobuf"))
	if number == 0 {
		return nil
	}
	if name == "" { // As that of an embedded message may be: it goes by its type.
		name = strings.ToLower(in.Name[:1]) + in.Name[1:]
	}
	f := &field{name: name, number: number}
	t := in.Type
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map:
		f.kind = table
	case slices.Contains(values, t):
		f.kind = value
	case t.Kind() == reflect.Struct:
		f.kind, f.message = nested, messageOf(t, known)
	}
	return f
}

// parseTag reads the number and the name out of a tag such as
// "bytes,1,opt,name=metadata".
func parseTag(tag string) (number protowire.Number, name string) {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return 0, ""
	}
	n, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil {
		return 0, ""
	}
	for _, part := range parts[2:] {
		if rest, ok := strings.CutPrefix(part, "name="); ok {
			name = rest
		}
	}
	return protowire.Number(n), name
}

// field returns the field with a name, or nil.
func (m *message) field(name string) *field {
	i, found := slices.BinarySearchFunc(m.fields, name, func(f *field, name string) int {
		return strings.Compare(f.name, name)
	})
	if !found {
		return nil
	}
	return m.fields[i]
}
