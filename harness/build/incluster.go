package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/files"
)

// ServiceAccountDir is the environment variable with the directory in which programs that Main compiled find the token, the CA
// and the namespace of their ServiceAccount. In a pod, they are in /var/run/secrets/kubernetes.io/serviceaccount, to which only
// root could write.
const ServiceAccountDir = "SKEWRIG_SERVICE_ACCOUNT"

// inCluster are the files that name that directory, by their modules.
var inCluster = map[string]string{
	"k8s.io/client-go":               "rest/config.go",
	"sigs.k8s.io/controller-runtime": "pkg/leaderelection/leader_election.go",
}

const secret = `(\w+)\s*= "/var/run/secrets/kubernetes\.io/serviceaccount/([\w.]+)"`

var (
	oneSecret   = regexp.MustCompile(secret)
	importsOS   = regexp.MustCompile(`(?m)^\s*(import )?"os"$`)
	constSecret = regexp.MustCompile(`const (` + secret + `|\((?:\s*` + secret + `\s*)+\))`)
)

// relocated is a Go file whose constants that name files of a ServiceAccount are variables, by ServiceAccountDir. It is nil if it has
// none, or does not import os.
func relocated(text []byte) []byte {
	if !constSecret.Match(text) || !importsOS.Match(text) {
		return nil
	}
	return constSecret.ReplaceAllFunc(text, func(found []byte) []byte {
		return append([]byte("var"), oneSecret.ReplaceAll(found[len("const"):], []byte(`$1 = os.Getenv("`+ServiceAccountDir+`") + "/$2"`))...)
	})
}

// relocateServiceAccounts has the module in a directory use copies, below another one, of the modules that name that directory.
// The Go command compiles no other files in the place of those in its module cache.
func relocateServiceAccounts(ctx context.Context, module, to string) error {
	for path, file := range inCluster {
		dir, err := gotool.Download(ctx, module, path)
		if err != nil {
			continue // it is not needed, or the build says why it can't be had
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			continue // it has no such file in this version
		}
		changed := relocated(text)
		if changed == nil {
			continue
		}
		own := filepath.Join(to, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(own, 0o700), files.CopyTree(own, os.DirFS(dir))); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(own, filepath.FromSlash(file)), changed, 0o600); err != nil {
			return err
		}
		if _, err := gotool.Run(ctx, module, []string{"mod", "edit", "-replace", path + "=" + own}); err != nil {
			return err
		}
	}
	return nil
}
