package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// ReadStored implements action.Rig.
func (r *run) ReadStored(ctx context.Context, ref spec.ObjectRef) error {
	ref = r.session.Names().Ref(ref)
	key, has, err := r.storedAt(ctx, &ref)
	if err != nil {
		return err
	}
	r.hasStored(ref, key, has.Value)
	return nil
}

// storedAt is what etcd has of an object, and where.
func (r *run) storedAt(ctx context.Context, ref *spec.ObjectRef) (key string, has cluster.Stored, err error) {
	etcd, err := provider.As[provider.Etcd](r.session)
	if err != nil {
		return "", has, err
	}
	o, err := r.first(ref.Cluster)
	if err != nil {
		return "", has, err
	}
	resource, err := o.find(ref)
	if err != nil {
		return "", has, err
	}
	for _, key := range keys(resource.GroupResource(), *ref) {
		has, found, err := etcd.Stored(ctx, ref.Cluster, key)
		if err != nil || found {
			return key, has, err
		}
	}
	return "", has, fmt.Errorf("%w: etcd has no %s", errUnmet, ref)
}

// hasStored records what etcd has of an object.
func (r *run) hasStored(ref spec.ObjectRef, key string, value []byte) {
	read := stored(value)
	read.Object, read.Key = ref.String(), key
	r.history.Append("engine", r.current.Name, read)
}

// Store implements action.Rig. What follows sees the object as the API server then shows it.
func (r *run) Store(ctx context.Context, s action.Store) error {
	ref := r.session.Names().Ref(s.Object)
	client, err := r.binary(ctx, build.Target{Component: build.TypedClient, Version: s.Version})
	if err != nil {
		return err
	}
	etcd, err := provider.As[provider.Etcd](r.session)
	if err != nil {
		return err
	}
	for {
		key, has, err := r.storedAt(ctx, &ref)
		if err != nil {
			return err
		}
		value, err := typedclient.Recode{Object: has.Value, Merge: r.session.Names().Within(s.Merge), MediaType: mediaTypes[s.Encoding]}.Do(ctx, client.Path)
		if errors.Is(err, typedclient.ErrClient) {
			return fmt.Errorf("%w: %w", errUnmet, err)
		}
		if err != nil {
			return err
		}
		done, err := etcd.Store(ctx, ref.Cluster, key, value, has.Revision)
		if err != nil {
			return err
		}
		if done {
			r.hasStored(ref, key, value)
			return r.showStored(ctx, ref)
		}
	}
}

// showStored records how an API server shows an object that was put into etcd.
func (r *run) showStored(ctx context.Context, ref spec.ObjectRef) error {
	o, err := r.first(ref.Cluster)
	if err != nil {
		return err
	}
	resource, err := o.find(&ref)
	if err != nil {
		return err
	}
	object, err := o.resource(resource, ref).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("getting %s, which is stored: %w", ref, err)
	}
	_, err = r.written(ctx, record.APIAnswer{Object: ref.String(), Code: http.StatusOK, Stored: true, Response: object.Object}, false, nil)
	return err
}

// oldNames are the resources that etcd knows by another name.
var oldNames = map[string]string{
	"nodes": "minions", "services": "services/specs", "endpoints": "services/endpoints", "ingresses": "ingress",
}

// keys are where an API server may keep an object. Only resources that are not built
// in have their group in the key.
func keys(resource schema.GroupResource, ref spec.ObjectRef) []string {
	const registry = "/registry"
	name := cmp.Or(oldNames[ref.Resource], ref.Resource)
	return []string{
		path.Join(registry, name, ref.Namespace, ref.Name),
		path.Join(registry, resource.Group, resource.Resource, ref.Namespace, ref.Name),
	}
}

// protobufMagic begins what an API server stores as protobuf.
const protobufMagic = "k8s\x00"

// The fields of the envelope that follows it (runtime.Unknown), and of the type
// within.
const (
	envelopeType    = "1"
	envelopeVersion = "1.1"
	envelopeKind    = "1.2"
	envelopeObject  = "2"
)

// stored says what a value of etcd is.
func stored(value []byte) record.StoredRead {
	read := record.StoredRead{Encoding: record.StoredUnknown, Bytes: len(value), Fields: []record.StoredField{}}
	if envelope, is := bytes.CutPrefix(value, []byte(protobufMagic)); is {
		readEnvelope(&read, envelope)
		return read
	}
	var meta struct{ APIVersion, Kind string }
	if json.Unmarshal(value, &meta) == nil {
		read.Encoding, read.APIVersion, read.Kind, read.Content = record.StoredJSON, meta.APIVersion, meta.Kind, json.RawMessage(value)
	}
	return read
}

func readEnvelope(read *record.StoredRead, envelope []byte) {
	all, is := fieldsOf("", envelope)
	if !is {
		return
	}
	read.Encoding = record.StoredProtobuf
	for _, f := range all {
		text, _ := f.Value.(string)
		switch {
		case f.Path == envelopeVersion:
			read.APIVersion = text
		case f.Path == envelopeKind:
			read.Kind = text
		case strings.HasPrefix(f.Path, envelopeObject+"."):
			f.Path = strings.TrimPrefix(f.Path, envelopeObject+".")
			read.Fields = append(read.Fields, f)
		}
	}
}

// wires are the names of wire types.
var wires = map[protowire.Type]string{
	protowire.VarintType: "varint", protowire.Fixed32Type: "fixed32", protowire.Fixed64Type: "fixed64", protowire.BytesType: "bytes",
}

// fieldsOf are the fields of a message, and of those within, if that is what it is.
func fieldsOf(at string, message []byte) (all []record.StoredField, is bool) {
	for len(message) > 0 {
		number, wire, tag := protowire.ConsumeTag(message)
		if tag < 0 || wires[wire] == "" {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, wire, message[tag:])
		if size < 0 {
			return nil, false
		}
		f := record.StoredField{Path: strings.TrimPrefix(at+"."+strconv.Itoa(int(number)), "."), Wire: wires[wire], Bytes: tag + size}
		var within []record.StoredField
		f.Value, within = valueOf(f.Path, wire, message[tag:])
		all = append(append(all, f), within...)
		message = message[tag+size:]
	}
	return all, true
}

// valueOf is the value of a field, or the fields of the message that it is.
func valueOf(at string, wire protowire.Type, value []byte) (any, []record.StoredField) {
	switch wire {
	case protowire.VarintType:
		number, _ := protowire.ConsumeVarint(value)
		return int64(number), nil
	case protowire.Fixed32Type:
		number, _ := protowire.ConsumeFixed32(value)
		return int64(number), nil
	case protowire.Fixed64Type:
		number, _ := protowire.ConsumeFixed64(value)
		return int64(number), nil
	}
	content, _ := protowire.ConsumeBytes(value)
	if text := string(content); isText(text, unicode.IsPrint) {
		return text, nil
	}
	if within, is := fieldsOf(at, content); is {
		return nil, within
	}
	if text := string(content); isText(text, func(r rune) bool { return unicode.IsPrint(r) || unicode.IsSpace(r) }) {
		return text, nil
	}
	return slices.Clone(content), nil
}

func isText(text string, allowed func(rune) bool) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }) < 0
}
