package action

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestKubectlOfThisMachine: kubectl reads and writes no files of this machine, and asks the rig alone, however its
// arguments are written.
func TestKubectlOfThisMachine(t *testing.T) {
	t.Parallel()
	load := func(args string) error {
		text := `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/kubectl/files
title: kubectl
topology: {controlPlane: {version: v1.90.1}}
steps:
- kubectl: {version: v1.90.1, args: ` + args + `}
- checks: [{id: a, observe: 'true', is: true, eventually: 1s}]
`
		_, err := Load(fstest.MapFS{"a.yaml": {Data: []byte(text)}}, []string{"a.yaml"})
		return err
	}
	for _, args := range []string{
		"[apply, -f, /etc/passwd]", "[apply, -f/etc/passwd]", "[apply, -f=/etc/passwd]", "[apply, -Rf, /etc/passwd]", "[apply, -Rf/etc/passwd]",
		"[apply, -k.]", "[get, pods, '-shttps://a']", "[get, pods, -As, 'https://a']", "[get, pods, --kuberc=/a]",
		"[get, pods, -o, go-template-file=/a]", "[get, pods, -ojsonpath-file=/a]", "[get, pods, --output=custom-columns-file=/a]", "[get, pods, -o=templatefile, --template=/a]",
		"[cluster-info, dump, --output-directory=/a]", "[debug, pod/a, --custom=/a]", "[create, --edit, -f, '-']", "[kuberc, set]",
		"[create, configmap, a, --from_file=/a]", "[cluster-info, dump, --output_directory, /a]", "[create, configmap, a, --field-manager, --, --from-file=/a]",
		"[get, pods, -n, --, --server=https://a]", "[exec, a, -it, -c, --, --kubeconfig=/a]",
		"[logs, -ps, 'https://a', web]", "[logs, '-pshttps://a', web]", "[logs, -fps=https://a, web]", "[logs, web, -ips, --, --server=https://a]",
	} {
		if err := load(args); err == nil || !strings.Contains(err.Error(), "a.yaml:7:") {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range []string{
		"[get, pods, -A]", "[get, pods, -Aojson]", "[get, pods, -nfiles]", "[get, pods, -lfile=a]", "[get, pods, '-ojsonpath={.spec.file}']",
		"[exec, a, --, grep, -f, /a]", "[exec, a, -it, --, grep, -f, /a]", "[exec, a, -n, b, --stdin, --, sh]", "[run, a, --image=b, --rm, --, sh, --server=a]", "[get, pods, -owide]",
		"[logs, -p, web]", "[logs, -pc, app, web]", "[patch, pod, a, '-p{\"spec\": {}}']", "[exec, -itc, app, a, --, sh]",
	} {
		if err := load(args); err != nil {
			t.Error(fmt.Errorf("%s: %w", args, err))
		}
	}
}
