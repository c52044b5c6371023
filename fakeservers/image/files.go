package image

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

const (
	// MaxFile bounds what is read from or written to one file: 16 MiB.
	MaxFile = 16 << 20
	// maxPath bounds the path of a file, as Linux does (PATH_MAX).
	maxPath = 4096
)

var errIsDirectory = errors.New("is a directory")

// Files is the part of a container's file system that is not on a volume. It
// lives in memory, and ends with the process. The zero value is empty. It is
// safe for concurrent use.
type Files struct {
	mu sync.Mutex
	// files are the contents by path. A directory that was made has one that ends in
	// a slash; others are there because there is something in them.
	files map[string][]byte
	bytes int64 // in all of them
	// Node is the room that the containers of a node share. If unset, it has no end.
	Node *Space
}

// Bytes returns how much is in all files together.
func (f *Files) Bytes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return uint64(f.bytes)
}

// Drop removes all files. It is for a container that is removed.
func (f *Files) Drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.Node.take(-f.bytes, -int64(len(f.files))) // giving back does not fail
	f.files, f.bytes = nil, 0
}

// ReadFile returns the content of a file, on a volume or not. Like every
// method here it returns an error as os does, with the path in the container.
func (p *Process) ReadFile(name string) ([]byte, error) {
	name = p.absolute(name)
	if mount, rest := p.mount(name); mount != nil {
		return mount.read(name, rest)
	}
	p.Files.mu.Lock()
	defer p.Files.mu.Unlock()
	data, found := p.Files.files[name]
	switch {
	case found:
		return slices.Clone(data), nil
	case len(p.Files.under(name)) > 0:
		return nil, pathError("read", name, errIsDirectory)
	default:
		return nil, pathError("open", name, fs.ErrNotExist)
	}
}

// WriteFile makes a file, or replaces its content. Directories need not exist.
func (p *Process) WriteFile(name string, data []byte) error {
	name = p.absolute(name)
	if len(data) > MaxFile {
		return pathError("write", name, fmt.Errorf("more than %d bytes", MaxFile))
	}
	if mount, rest := p.mount(name); mount != nil {
		return mount.write(name, rest, data, p.VolumeSpace)
	}
	p.Files.mu.Lock()
	defer p.Files.mu.Unlock()
	if len(p.Files.under(name)) > 0 {
		return pathError("write", name, errIsDirectory)
	}
	return p.Files.put("write", name, slices.Clone(data))
}

// Mkdir makes a directory, and those that it is in. One that is there is left alone.
func (p *Process) Mkdir(name string) error {
	name = p.absolute(name)
	if mount, rest := p.mount(name); mount != nil {
		return mount.mkdir(name, rest, p.VolumeSpace)
	}
	p.Files.mu.Lock()
	defer p.Files.mu.Unlock()
	if _, found := p.Files.files[name]; found {
		return pathError("mkdir", name, fs.ErrExist)
	}
	return p.Files.put("mkdir", name+"/", nil)
}

// put keeps a content, while there is room. f.mu is held.
func (f *Files) put(op, name string, data []byte) error {
	for dir := path.Dir(path.Clean(name)); dir != "/"; dir = path.Dir(dir) {
		if _, isFile := f.files[dir]; isFile {
			return pathError(op, name, errors.New("not a directory"))
		}
	}
	if len(name) > maxPath {
		return pathError(op, name[:maxPath], syscall.ENAMETOOLONG)
	}
	old, found := f.files[name]
	more, files := int64(len(data)-len(old)), int64(0)
	if !found {
		files = 1
	}
	if f.bytes+more > maxBytes || len(f.files)+int(files) > maxFiles || f.Node.take(more, files) != nil {
		return pathError(op, name, syscall.ENOSPC)
	}
	if f.files == nil {
		f.files = map[string][]byte{}
	}
	f.files[name] = data
	f.bytes += more
	return nil
}

// forget removes a file, if there is one. f.mu is held.
func (f *Files) forget(name string) {
	data, found := f.files[name]
	if !found {
		return
	}
	_ = f.Node.take(-int64(len(data)), -1) // giving back does not fail
	f.bytes -= int64(len(data))
	delete(f.files, name)
}

// Remove removes a file, or a directory with everything in it.
func (p *Process) Remove(name string) error {
	name = p.absolute(name)
	if mount, rest := p.mount(name); mount != nil {
		return mount.remove(name, rest)
	}
	p.Files.mu.Lock()
	defer p.Files.mu.Unlock()
	children := p.Files.under(name)
	_, found := p.Files.files[name]
	if !found && len(children) == 0 {
		return pathError("remove", name, fs.ErrNotExist)
	}
	p.Files.forget(name)
	for _, child := range children {
		p.Files.forget(child)
	}
	return nil
}

// Stat describes a file or directory. What is not on a volume has mode 0644,
// directories 0755.
func (p *Process) Stat(name string) (fs.FileMode, error) {
	name = p.absolute(name)
	if mount, rest := p.mount(name); mount != nil {
		return mount.stat(name, rest)
	}
	p.Files.mu.Lock()
	_, found := p.Files.files[name]
	children := p.Files.under(name)
	p.Files.mu.Unlock()
	switch {
	case found:
		return 0o644, nil
	case name == "/" || name == "/tmp" || len(children) > 0 || p.leadsToMount(name):
		return fs.ModeDir | 0o755, nil
	default:
		return 0, pathError("stat", name, fs.ErrNotExist)
	}
}

// ReadDir returns the names in a directory, sorted.
func (p *Process) ReadDir(name string) ([]string, error) {
	name = p.absolute(name)
	mode, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	if !mode.IsDir() {
		return nil, pathError("readdir", name, errors.New("not a directory"))
	}
	if mount, rest := p.mount(name); mount != nil {
		return mount.readDir(name, rest)
	}
	p.Files.mu.Lock()
	paths := p.Files.under(name)
	p.Files.mu.Unlock()
	for _, mount := range p.Mounts {
		paths = append(paths, clean(mount.ContainerPath))
	}
	names := map[string]bool{}
	for _, path := range paths {
		if rest, inside := within(path, name); inside && rest != "." {
			if first, _, _ := strings.Cut(rest, "/"); first != "" {
				names[first] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// mount returns the volume that holds a path, and the path inside it.
func (p *Process) mount(name string) (found *Mount, rest string) {
	for i := range p.Mounts {
		inside, ok := within(name, clean(p.Mounts[i].ContainerPath))
		if ok && (found == nil || len(p.Mounts[i].ContainerPath) > len(found.ContainerPath)) {
			found, rest = &p.Mounts[i], inside
		}
	}
	return found, rest
}

func (p *Process) leadsToMount(name string) bool {
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool {
		_, inside := within(clean(m.ContainerPath), name)
		return inside
	})
}

// under returns the paths of the files in a directory. f.mu is held.
func (f *Files) under(name string) []string {
	var paths []string
	for path := range f.files {
		if rest, inside := within(path, name); inside && rest != "." {
			paths = append(paths, path)
		}
	}
	return paths
}

// within returns the path of name relative to dir, and whether it is in it. A
// directory is in itself, as ".".
func within(name, dir string) (rest string, inside bool) {
	if name == dir {
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// absolute is the whole path of a file.
func (p *Process) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join("/", p.Dir, name)
}

// clean makes a path that is absolute as short as it can be.
func clean(name string) string { return path.Clean("/" + name) }

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
