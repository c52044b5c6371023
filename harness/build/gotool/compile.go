package gotool

import (
	"context"
	"strings"
	"time"
)

// Compilation is how far a build is.
type Compilation struct {
	// Downloads is set while modules are downloaded, which are Done. Otherwise packages are compiled: so many of Of.
	Downloads bool
	Done, Of  int
	// Took is how long they are compiled.
	Took time.Duration
}

// Build has the Go command build a package to out, and reports how far it is.
func Build(ctx context.Context, dir string, flags []string, pkg, out string, env []string, report func(Compilation)) error {
	stale := stalePackages(ctx, dir, flags, pkg, env, report)
	began, done := time.Now(), 0
	progress := func() {
		report(Compilation{Took: time.Since(began), Done: done, Of: max(stale, done)})
	}
	progress()
	args := append([]string{"build", "-v", "-o", out}, flags...)
	_, err := RunTelling(ctx, dir, append(args, pkg), func(line string) {
		if compiles.MatchString(line) {
			done++
			progress()
		}
	}, env...)
	return err
}

// stalePackages is how many packages are not in the Go command's cache, or 0 if that can't be
// found out: the build says why. What they need is downloaded.
func stalePackages(ctx context.Context, dir string, flags []string, pkg string, env []string, report func(Compilation)) int {
	downloaded := 0
	args := append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, flags...)
	out, _ := RunTelling(ctx, dir, append(args, pkg), func(line string) {
		if downloads.MatchString(line) {
			downloaded++
			report(Compilation{Downloads: true, Done: downloaded})
		}
	}, env...)
	return len(strings.Fields(out))
}
