package manifest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
)

// Limits of what is read, in bytes.
const (
	// MaxFile is the limit of a file, and of one in an archive.
	MaxFile = 64 << 20
	// MaxInput is the limit of all files together.
	MaxInput = 256 << 20
	// maxUnpacked is the limit of an archive with the files that are not read.
	maxUnpacked = 1 << 30
)

// Load reads the files of arguments: files, directories, archives such as those of Velero, and "-" for standard input. It
// returns all errors of arguments that can't be read.
func Load(args []string, stdin io.Reader) (Input, error) {
	l := loader{stdin: stdin}
	var errs []error
	for _, arg := range args {
		if err := l.argument(arg); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Input{}, err
	}
	in := settle(l.objects)
	in.Problems = append(l.problems, in.Problems...)
	in.Files, in.Documents = l.files, l.documents
	return in, nil
}

// loader gathers what is read.
type loader struct {
	stdin     io.Reader
	stdinRead bool
	size      int64
	files     int
	documents int
	objects   []Object
	problems  []Problem
}

var errInput = fmt.Errorf("the input is too large: must be at most %d MiB", MaxInput>>20)

func (l *loader) argument(arg string) error {
	if arg == "-" {
		return l.standardInput()
	}
	info, err := os.Stat(arg)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return l.directory(arg)
	}
	text, err := files.Read(arg, MaxFile)
	if err != nil {
		return err
	}
	return l.named(filepath.ToSlash(arg), text)
}

func (l *loader) standardInput() error {
	if l.stdinRead {
		return errors.New("-: standard input can be read once")
	}
	l.stdinRead = true
	text, err := readAll("standard input", l.stdin)
	if err != nil {
		return err
	}
	return l.named("-", text)
}

// readAll reads a file of at most MaxFile bytes.
func readAll(name string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > MaxFile {
		return nil, &files.TooLargeError{Path: name, Limit: MaxFile}
	}
	return text, nil
}

var gzipped = []byte("\x1f\x8b")

// named reads a file that a user names, whatever its extension.
func (l *loader) named(file string, text []byte) error {
	if bytes.HasPrefix(text, gzipped) {
		return l.archive(file, text)
	}
	r, err := l.read(file, text)
	if err != nil {
		return err
	}
	l.problems = append(l.problems, r.problems...)
	return nil
}

// found reads a file of a directory or an archive, which a user does not name: one without objects is one problem.
func (l *loader) found(file string, text []byte) error {
	if why := chartFile(path.Base(file)); why != "" {
		l.files++
		l.problems = append(l.problems, Problem{Place: Place{File: file, Line: 1, Document: 1}, Why: why, Harmless: true})
		return nil
	}
	r, err := l.read(file, text)
	if err != nil {
		return err
	}
	if len(r.objects) == 0 && len(r.problems) > 1 {
		r.problems = r.problems[:1]
	}
	l.problems = append(l.problems, r.problems...)
	return nil
}

// read parses a file and adds its objects.
func (l *loader) read(file string, text []byte) (*reading, error) {
	if l.size += int64(len(text)); l.size > MaxInput {
		return nil, errInput
	}
	r := parse(file, text)
	l.files++
	l.documents += r.documents
	l.objects = append(l.objects, r.objects...)
	return r, nil
}

var valuesFile = regexp.MustCompile(`^values([-_.].*)?\.ya?ml$`)

// chartFile returns why a file that a directory has for a tool is no object, by its name, or "".
func chartFile(name string) string {
	switch {
	case name == "Chart.yaml":
		return "not a Kubernetes object but a Helm chart: render it with helm template"
	case valuesFile.MatchString(name):
		return "not a Kubernetes object but values of a Helm chart"
	case name == "kustomization.yaml" || name == "kustomization.yml":
		return "not a Kubernetes object but " + configurations["kustomize.config.k8s.io"]
	case name == "skaffold.yaml" || name == "skaffold.yml":
		return "not a Kubernetes object but " + configurations["skaffold"]
	}
	return ""
}

// isManifest reports whether a file of a directory is read, and isArchive whether it is one.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

func isArchive(name string) bool {
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// directory reads the files below a directory in the order of their names.
func (l *loader) directory(dir string) error {
	root := files.RootFS(dir, MaxFile)
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if entry.IsDir() {
			return l.below(root, dir, name)
		}
		return l.entry(root, dir, name, entry)
	})
}

// below decides whether a directory below a directory is read. A chart isn't: its files are templates.
func (l *loader) below(root fs.FS, dir, name string) error {
	if name != "." && strings.HasPrefix(path.Base(name), ".") || isVersioned(name) {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, path.Join(name, "Chart.yaml")); err == nil {
		if err := l.found(joined(dir, name, "Chart.yaml"), nil); err != nil {
			return err
		}
		return fs.SkipDir
	}
	return nil
}

// entry reads a file below a directory. A link to a file of the directory is followed.
func (l *loader) entry(root fs.FS, dir, name string, entry fs.DirEntry) error {
	if !isManifest(name) && !isArchive(name) || strings.HasPrefix(path.Base(name), ".") {
		return nil
	}
	file := joined(dir, name)
	if entry.Type()&fs.ModeSymlink != 0 {
		info, _ := fs.Stat(root, name) // the link is broken, or leads out
		if info == nil {
			l.problems = append(l.problems, Problem{Place: Place{File: file, Line: 1}, Why: "a link that is broken or leads out of the directory is not followed"})
			return nil
		}
		if info.IsDir() {
			return nil
		}
	}
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if isArchive(name) {
		return l.archive(file, text)
	}
	return l.found(file, text)
}

func joined(dir string, names ...string) string {
	return path.Join(append([]string{filepath.ToSlash(dir)}, names...)...)
}

// versioned is a directory in which Velero stores objects of one version. Those of the preferred version are also stored
// without it.
var versioned = regexp.MustCompile(`(^|/)resources/[^/]+/v[0-9][a-z0-9]*(-preferredversion)?/(namespaces|cluster)(/|$)`)

func isVersioned(name string) bool { return versioned.MatchString(name) }

// archived is a file of an archive.
type archived struct {
	name string
	text []byte
}

// archive reads the files of a .tar.gz in the order of their names.
func (l *loader) archive(file string, packed []byte) error {
	found, err := unpack(file, packed)
	if err != nil {
		return err
	}
	charts := make(map[string]bool)
	for _, f := range found {
		if path.Base(f.name) == "Chart.yaml" {
			charts[path.Dir(f.name)] = true
		}
	}
	for _, f := range found {
		if path.Base(f.name) != "Chart.yaml" && inAny(charts, f.name) {
			continue
		}
		if err := l.found(joined(file, f.name), f.text); err != nil {
			return err
		}
	}
	return nil
}

// inAny reports whether a file is below one of directories.
func inAny(dirs map[string]bool, name string) bool {
	for name != "." && name != "/" {
		if name = path.Dir(name); dirs[name] {
			return true
		}
	}
	return false
}

// unpack returns the manifests of a .tar.gz, sorted by their names.
func unpack(file string, packed []byte) (found []archived, err error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	bounded := &io.LimitedReader{R: unpacked, N: maxUnpacked}
	size := 0
	for archive := tar.NewReader(bounded); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			slices.SortStableFunc(found, func(a, b archived) int { return cmp.Compare(a.name, b.name) })
			return found, nil
		case bounded.N <= 0:
			return nil, fmt.Errorf("%s is too large: must be at most %d MiB when it is unpacked", file, maxUnpacked>>20)
		case err != nil:
			return nil, damaged(fmt.Errorf("%s: %w", file, err))
		}
		name := path.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || !isManifest(name) || isHidden(name) || isVersioned(name) {
			continue
		}
		text, err := readAll(joined(file, name), archive)
		if err != nil {
			return nil, damaged(err)
		}
		if size += len(text); size > MaxInput {
			return nil, errInput
		}
		found = append(found, archived{name, text})
	}
}

// damaged adds the reason to an error of an archive that ends early.
func damaged(err error) error {
	if _, is := errors.AsType[*files.TooLargeError](err); is {
		return err
	}
	return fmt.Errorf("%w: the archive is damaged, or no .tar.gz", err)
}

func isHidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}
