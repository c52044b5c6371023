package images

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/layer"
)

// commandDirs are directories that are one: where runtimes look for a command without a
// slash, and what pods write who know from which directory of an image it is.
var commandDirs = []string{"/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}

// sharedDirs are the directories that every image has, with their modes.
var sharedDirs = map[string]int64{
	container.Dir: 0o755, container.RecordDir: 0o755,
	"/bin": 0o755, "/dev": 0o755, "/etc": 0o755, "/proc": 0o555, "/root": 0o700, "/sys": 0o555,
	"/tmp": 0o1777, "/usr": 0o755, "/usr/local": 0o755, "/var": 0o755,
}

// directories are the shared ones, and links for those that are one.
func directories() (all layer.Layer) {
	for _, name := range slices.Sorted(maps.Keys(sharedDirs)) {
		all = append(all, layer.Dir(name, sharedDirs[name]))
	}
	for _, name := range commandDirs {
		up := strings.Repeat("../", strings.Count(name, "/")-1)
		all = append(all, layer.Link(name, up+"bin"))
	}
	return all
}

// links are the names of the program in an image: those of its entrypoint, of what its
// containers run, and of what can be run beside it, with the directories that they are in.
func links(played *image.Image, commands []string) (all layer.Layer) {
	names := make(map[string]bool)
	for _, command := range slices.Concat(commands, played.Links) {
		names[absolute(command)] = true
	}
	if own := slices.Concat(played.Entrypoint, played.Cmd); len(own) > 0 {
		names[absolute(own[0])] = true
	}
	if played.Exec != nil {
		for _, command := range shell.Commands() {
			names[absolute(command)] = true
		}
	}
	dirs := make(map[string]bool)
	for name := range names {
		for dir := path.Dir(name); dir != "/" && sharedDirs[dir] == 0; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		all = append(all, layer.Dir(dir, 0o755))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !dirs[name] && sharedDirs[name] == 0 { // or it is no command
			all = append(all, layer.Link(name, strings.Repeat("../", strings.Count(name, "/")-1)+container.Program[1:]))
		}
	}
	return all
}

// absolute is the path of a command in an image.
func absolute(command string) string {
	if path.Base(command) == command {
		return "/bin/" + command
	}
	name := path.Clean("/" + command)
	if slices.Contains(commandDirs, path.Dir(name)) {
		return "/bin/" + path.Base(name)
	}
	return name
}
