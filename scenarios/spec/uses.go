package spec

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Use is something that a scenario names, and where.
type Use struct {
	Name string
	strict.Position
}

// Uses is what the steps of a scenario name of Kubernetes, in their order.
type Uses struct {
	// Images are those of containers that a kubelet of the scenario may start.
	Images []Use
	// Kinds are those of objects that are created, and Resources those of objects that
	// are patched or deleted.
	Kinds, Resources []Use
	// Objects are those that are created, and the parts of those that are patched.
	Objects []Written
}

// Written is an API object, or a part of one, as it is written.
type Written struct {
	// APIVersion and Kind are those of an object that is created. Resource is that of one
	// that is patched.
	APIVersion, Kind, Resource string
	// Unknown are the names of fields that the newest release need not know, and where
	// the step gives them.
	Unknown []Use

	File string
	Node *yaml.Node
}

// Position is the place of a part of the object.
func (w Written) Position(n *yaml.Node) strict.Position {
	return strict.Position{File: w.File, Line: n.Line, Column: n.Column}
}

// Uses returns what a combination of the scenario names. A file that wasn't read from a
// text names nothing.
func (f *File) Uses(c Combination) (all Uses) {
	if f.document == nil {
		return all
	}
	refs := references{values: c.Axes, used: make(map[string]bool)}
	resolve := func(text string) string {
		replaced, _ := refs.replace(text)
		return replaced.text
	}
	for i, step := range c.Scenario.Steps {
		at, found := f.document.Find(stepPath(i) + "." + step.Kind)
		if !found || step.Skipped {
			continue
		}
		uses := finder{file: f.Path, resolve: resolve}
		if loader, is := step.Action.(Loader); is {
			// The file was loaded before: what counts is which one it is.
			_, _ = loader.Load(func(name string) (Objects, error) {
				uses = f.manifests.uses[path.Join(f.manifests.dir, name)]
				return nil, nil
			})
		} else {
			kind := slices.IndexFunc(f.kinds, func(k ActionKind) bool { return k.Name == step.Kind })
			uses.step(f.kinds[kind].Fields, at)
		}
		for _, object := range uses.objects {
			object.Unknown = f.unknownFields(i)
			all.Objects = append(all.Objects, object)
		}
		all.Kinds, all.Resources = append(all.Kinds, uses.kinds...), append(all.Resources, uses.resources...)
		for _, image := range uses.images {
			if step.Rejected == nil && image.mayRun(c.Scenario.Topology) {
				all.Images = append(all.Images, image.Use)
			}
		}
	}
	return all
}

// unknownFields are those that a step may have, and where it says so.
func (f *File) unknownFields(step int) (all []Use) {
	n, _ := f.document.Find(stepPath(step) + ".unknownFields")
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, name := range n.Content {
		all = append(all, Use{name.Value, strict.Position{File: f.Path, Line: name.Line, Column: name.Column}})
	}
	return all
}

// imageUse is an image of a container.
type imageUse struct {
	Use

	made   bool // a controller makes the pod
	placed bool // the pod has a node without a scheduler
}

// mayRun reports whether a kubelet may start the container.
func (i imageUse) mayRun(t Topology) bool {
	return len(t.Nodes) > 0 && (!i.made || enabled(t.ControlPlane.ControllerManager)) && (i.placed || enabled(t.ControlPlane.Scheduler))
}

// finder gathers what the parts of a file name.
type finder struct {
	file    string
	resolve func(string) string // replaces references to axes

	images           []imageUse
	kinds, resources []Use
	objects          []Written
}

func (f *finder) use(n *yaml.Node) Use {
	return Use{f.resolve(n.Value), strict.Position{File: f.file, Line: n.Line, Column: n.Column}}
}

// step finds what a step names in the fields of its action.
func (f *finder) step(fields Fields, n *yaml.Node) {
	if objects, has := fields.of(n, fields.Objects); has {
		f.all(objects)
	}
	if pod, has := fields.of(n, fields.Pod); has {
		f.containers(pod, imageUse{placed: true})
		f.written(pod)
	}
	object, has := fields.of(n, fields.Object)
	if !has {
		return
	}
	f.resource(object)
	ref, err := ParseObjectRef(f.resolve(object.Value))
	merge, has := fields.of(n, fields.Merge)
	if err != nil || !has {
		return
	}
	f.objects = append(f.objects, Written{Resource: ref.Resource, File: f.file, Node: merge})
	if kind := kube.ByResource(ref.Resource); kind.Name == "Pod" || kind.HasPods() {
		f.containers(merge, imageUse{made: true})
	}
}

// all finds what an object, or each of a list, names.
func (f *finder) all(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		f.object(n)
		return
	}
	for _, object := range n.Content {
		f.object(object)
	}
}

// object finds what an object that is created names.
func (f *finder) object(n *yaml.Node) {
	kind, is := strict.Find(n, "kind")
	if !is || kind.Kind != yaml.ScalarNode {
		return
	}
	use := f.use(kind)
	f.kinds = append(f.kinds, use)
	f.written(n)
	if made := kube.ByName(use.Name).HasPods(); made || use.Name == "Pod" {
		f.containers(n, imageUse{made: made})
	}
}

// written finds an object that is written out.
func (f *finder) written(n *yaml.Node) {
	version, has := strict.Find(n, "apiVersion")
	kind, is := strict.Find(n, "kind")
	if has && is {
		f.objects = append(f.objects, Written{APIVersion: f.resolve(version.Value), Kind: f.resolve(kind.Value), File: f.file, Node: n})
	}
}

// containers finds the images of all containers in a node. What is known of their pods is
// in the image.
func (f *finder) containers(n *yaml.Node, image imageUse) {
	if n.Kind == yaml.MappingNode {
		_, has := strict.Find(n, "nodeName")
		image.placed = image.placed || has
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 0: // a key
		case n.Kind == yaml.MappingNode && (n.Content[i-1].Value == "containers" || n.Content[i-1].Value == "initContainers"):
			for _, c := range child.Content {
				if named, is := strict.Find(c, "image"); is && named.Kind == yaml.ScalarNode {
					image.Use = f.use(named)
					f.images = append(f.images, image)
				}
			}
		default:
			f.containers(child, image)
		}
	}
}

// resource finds the resource of an object's name, resource/namespace/name.
func (f *finder) resource(n *yaml.Node) {
	use := f.use(n)
	if resource, _, is := strings.Cut(use.Name, "/"); is && resource != Seed {
		use.Name = resource
		f.resources = append(f.resources, use)
	}
}
