package spec

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// ObjectRef names an API object.
type ObjectRef struct {
	// Cluster is Seed, or empty for the rig that the scenario is about.
	Cluster string
	// Resource is the plural name, as in the path of a request: "pods".
	Resource string
	// Namespace is empty for an object without one, such as a node.
	Namespace string
	Name      string
}

// Everything is the name of an ObjectRef that stands for all objects of a resource in a namespace.
const Everything = "*"

// Names reports whether it is an object, or stands for it.
func (r ObjectRef) Names(cluster, resource, namespace, name string) bool {
	return r.Cluster == cluster && r.Resource == resource && r.Namespace == namespace && (r.Name == name || r.Name == Everything)
}

// String returns the object as the record names it: resource/namespace/name, or
// resource/name if it has no namespace, with seed/ before it if it is there.
func (r ObjectRef) String() string {
	var parts []string
	for _, part := range []string{r.Cluster, r.Resource, r.Namespace, r.Name} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// MarshalText implements encoding.TextMarshaler.
func (r ObjectRef) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler by ParseObjectRef.
func (r *ObjectRef) UnmarshalText(text []byte) (err error) {
	*r, err = ParseObjectRef(string(text))
	return err
}

var (
	resourceName = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	// objectName is a DNS subdomain (RFC 1123), which some kinds of object
	// loosen by a colon.
	objectName = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// ParseObjectRef reads resource/namespace/name or resource/name. The latter is
// an object in the namespace default, or one of the kinds that have no
// namespace. What is on the seed begins with seed/.
func ParseObjectRef(s string) (ObjectRef, error) {
	if ofSeed, is := strings.CutPrefix(s, Seed+"/"); is {
		ref, err := ParseObjectRef(ofSeed)
		ref.Cluster = Seed
		return ref, err
	}
	parts := strings.Split(s, "/")
	var ref ObjectRef
	switch len(parts) {
	case 2:
		ref = ObjectRef{Resource: parts[0], Name: parts[1]}
		if !kube.ClusterScoped(ref.Resource) {
			ref.Namespace = "default"
		}
	case 3:
		ref = ObjectRef{Resource: parts[0], Namespace: parts[1], Name: parts[2]}
		if !dnsLabel.MatchString(ref.Namespace) {
			return ref, fmt.Errorf("%s can't name a namespace", strict.Quote(ref.Namespace))
		}
		if kube.ClusterScoped(ref.Resource) {
			return ref, fmt.Errorf("%s have no namespace: write %s/%s", ref.Resource, ref.Resource, ref.Name)
		}
	default:
		return ref, fmt.Errorf("%s does not name an object: write resource/name, like pods/tls, or resource/namespace/name", strict.Quote(s))
	}
	if !resourceName.MatchString(ref.Resource) {
		return ref, fmt.Errorf("%s can't name a resource: write it as in the path of a request, like pods", strict.Quote(ref.Resource))
	}
	if !objectName.MatchString(ref.Name) {
		return ref, fmt.Errorf("%s can't name an object", strict.Quote(ref.Name))
	}
	return ref, nil
}
