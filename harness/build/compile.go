package build

import (
	"context"
	"strings"
	"time"
)

// goBuild has the Go command build a package to out, and tells how far it is.
func goBuild(ctx context.Context, dir string, flags []string, pkg, out string, env []string, tell func(Progress)) error {
	stale := stalePackages(ctx, dir, flags, pkg, env, tell)
	began, done := time.Now(), 0
	progress := func() {
		tell(Progress{State: Compiling, Compiled: time.Since(began), Done: done, Of: max(stale, done)})
	}
	progress()
	args := append([]string{"build", "-v", "-o", out}, flags...)
	_, err := goTelling(ctx, dir, append(args, pkg), func(line string) {
		if compiles.MatchString(line) {
			done++
			progress()
		}
	}, env...)
	return err
}

// stalePackages is how many packages are not in the Go command's cache, or 0 if that can't be
// found out: the build says why. What they need is downloaded.
func stalePackages(ctx context.Context, dir string, flags []string, pkg string, env []string, tell func(Progress)) int {
	downloaded := 0
	args := append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, flags...)
	out, _ := goTelling(ctx, dir, append(args, pkg), func(line string) {
		if downloads.MatchString(line) {
			downloaded++
			tell(Progress{State: Downloading, Done: downloaded})
		}
	}, env...)
	return len(strings.Fields(out))
}
