package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/suites/internal/offline"
)

// rules are changes of package model, and of the rows of the ledgers that it is
// given, one at a time.
var rules = map[string]change{
	"a gate that no release has":    {"scenarios/model/model.go", "return known\n", "return known && false\n"},
	"a gate that every release has": {"scenarios/model/model.go", "return known\n", "return known || true\n"},
	"a gate that is on by default": {"scenarios/model/model.go",
		"if set, is := c.Gates[f.Gate]; is {\n\t\treturn set\n\t}\n\tgate, known := r.Gates.Gate(c.Effective, f.Gate)\n\treturn known && gate.Default", "return r.Knows(c, f)"},
	"mode TLS whatever the value":    {"scenarios/model/wire.go", "!h.Hook && h.Values[f.Name()] == f.Wire.Value && ", "!h.Hook && "},
	"a field without the gate":       {"scenarios/model/wire.go", " && r.Enabled(kubelet, f) {", " {"},
	"TLS whatever the mode":          {"scenarios/model/wire.go", "if h.Kind == timeline.GRPC {\n\t\treturn record.FirstHTTP2", "if h.Kind == timeline.GRPC {\n\t\treturn record.FirstTLS"},
	"HTTPS with a protocol":          {"scenarios/model/wire.go", `case h.Scheme == "HTTPS":`, `case h.Scheme == "HTTPS" && h.Values["httpGet.protocol"] != "HTTP1":`},
	"a tcpSocket probe that sends":   {"scenarios/model/wire.go", "case h.Kind == timeline.TCPSocket:\n\t\treturn record.FirstNothing", "case h.Kind == timeline.TCPSocket:\n\t\treturn record.FirstHTTP1"},
	"a hook as a probe":              {"scenarios/model/wire.go", "!h.Hook && ", ""},
	"HTTP2 by default":               {"scenarios/model/wire.go", "return record.FirstHTTP1\n", "return record.FirstHTTP2\n"},
	"mode TLS that is plaintext":     {"scenarios/ledger/kep-4939.yaml", "first: tls-client-hello", "first: http2-preface"},
	"mode Plaintext that is TLS":     {"scenarios/ledger/kep-4939.yaml", "wire: {value: TLS,", "wire: {value: Plaintext,"},
	"another gate of the mode":       {"scenarios/ledger/kep-4939.yaml", "gate: GRPCContainerProbeTLS", "gate: H2CContainerProbe"},
	"HTTP2 over HTTP/1.1":            {"scenarios/ledger/kep-5999.yaml", "first: http2-preface", "first: http1-request"},
	"HTTP1 over HTTP/2":              {"scenarios/ledger/kep-5999.yaml", "wire: {value: HTTP2,", "wire: {value: HTTP1,"},
	"a default that is shown":        {"scenarios/ledger/kep-5999.yaml", "default: HTTP1", "default: HTTP3"},
	"what HTTP/1.1 understands":      {"scenarios/model/wire.go", "behavior.HTTP1:         {record.FirstHTTP1: true}", "behavior.HTTP1:       {record.FirstHTTP2: true}"},
	"what HTTPS understands":         {"scenarios/model/wire.go", "behavior.HTTPS:         {record.FirstTLS: true}", "behavior.HTTPS:       {record.FirstHTTP1: true}"},
	"what h2c understands":           {"scenarios/model/wire.go", "behavior.H2C:           {record.FirstHTTP2: true}", "behavior.H2C:         {record.FirstHTTP1: true}"},
	"what both understand":           {"scenarios/model/wire.go", "behavior.H2CAndHTTP1:   {record.FirstHTTP1: true, record.FirstHTTP2: true}", "behavior.H2CAndHTTP1: {record.FirstHTTP1: true}"},
	"what gRPC understands":          {"scenarios/model/wire.go", "behavior.GRPC:          {record.FirstHTTP2: true}", "behavior.GRPC:        {record.FirstTLS: true}"},
	"what gRPC over TLS understands": {"scenarios/model/wire.go", "behavior.GRPCTLS:       {record.FirstTLS: true}", "behavior.GRPCTLS:     {record.FirstHTTP2: true}"},
	"created in any case":            {"scenarios/model/stored.go", "if r.Enabled(apiserver, f) {\n\t\treturn f.filled(fills, asked)\n\t}\n\treturn nil", "return f.filled(fills, asked)"},
	"never created":                  {"scenarios/model/stored.go", "if r.Enabled(apiserver, f) {\n\t\treturn f.filled(fills, asked)\n\t}\n\treturn nil", "return nil"},
	"kept by an old server":          {"scenarios/model/stored.go", "\t\treturn nil\n\tcase r.Enabled(apiserver, f):\n\t\treturn f.filled(fills, asked)", "\t\treturn asked\n\tcase r.Enabled(apiserver, f):\n\t\treturn f.filled(fills, asked)"},
	"dropped with the gate off":      {"scenarios/model/stored.go", "case len(before) > 0:", "case len(before) < 0:"},
	"added with the gate off":        {"scenarios/model/stored.go", "default:\n\t\treturn nil", "default:\n\t\treturn asked"},
	"shown by an old server":         {"scenarios/model/stored.go", "\t\treturn nil\n\tcase r.Enabled(apiserver, f):\n\t\treturn f.filled(fills, stored)", "\t\treturn stored\n\tcase r.Enabled(apiserver, f):\n\t\treturn f.filled(fills, stored)"},
	"never shown":                    {"scenarios/model/stored.go", "default:\n\t\treturn stored", "default:\n\t\treturn nil"},
	"no default in what is created":  {"scenarios/model/stored.go", "if r.Enabled(apiserver, f) {\n\t\treturn f.filled(fills, asked)", "if r.Enabled(apiserver, f) {\n\t\treturn asked"},
	"no default in what is written":  {"scenarios/model/stored.go", "case r.Enabled(apiserver, f):\n\t\treturn f.filled(fills, asked)", "case r.Enabled(apiserver, f):\n\t\treturn asked"},
	"no default in what is shown":    {"scenarios/model/stored.go", "return f.filled(fills, stored)", "return stored"},
	"a default with the gate off":    {"scenarios/model/stored.go", "default:\n\t\treturn stored", "default:\n\t\treturn f.filled(fills, stored)"},
	"a default in templates":         {"scenarios/model/field.go", `f.Default != "" && resource == "pods"`, `f.Default != ""`},
}

// survivingRules are those that may be changed without a check turning red, and
// why that is so.
var survivingRules = map[string]string{
	"shown by an old server":        "what is shown before the API server is known to be ready may be either one's, and may be all that is shown",
	"no default in what is created": "an API server with the gate on shows the default in any case, and the next write of a status stores it",
	"a tcpSocket probe that sends":  "a connection on which nothing was sent may be one that a kubelet gave up",
}

// judged are the cells whose records show what the rules are about: a small part
// of the catalog, which has one of everything.
var judged = []string{
	"kep-4939/admission/gate-toggled/**", "kep-4939/gate/kubelet-toggled/**", "kep-4939/skew/older-kubelet/**",
	"kep-4939/e2e/*-server/**", "kep-5999/e2e/*-server/**",
	"kep-5999/probe/kinds/**", "kep-5999/rollback/gate/**", "kep-5999/path/everything/**",
}

// oldAPIServer is a scenario with an API server of the release before, with which
// the catalog's need more components.
const oldAPIServer = "testdata/old-api-server.yaml"

var _ = It("finds each rule of the model that is another one", Serial, func(ctx SpecContext) {
	root := filepath.Join("..", "..")
	dir := GinkgoT().TempDir()
	record := filepath.Join(dir, "record")
	selected := append([]string{oldAPIServer}, judged...)
	cells, err := app.Select(selected)
	Expect(err).NotTo(HaveOccurred())
	offline.SkipWithout(ctx, new(build.Builder), cells)
	skewrig := buildSkewrig(ctx, root, dir, nil)
	run, err := exec.CommandContext(ctx, skewrig, append([]string{"run", "--report-dir", record}, selected...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", run)

	names := slices.Sorted(maps.Keys(rules))
	red := make([][]string, len(names))
	var workers errgroup.Group // linking keeps one processor busy
	workers.SetLimit(runtime.NumCPU())
	for i, name := range names {
		workers.Go(func() error {
			defer GinkgoRecover()
			red[i] = judgeWith(ctx, root, rules[name], record)
			return nil
		})
	}
	Expect(workers.Wait()).To(Succeed())
	var survivors []string
	for i, name := range names {
		AddReportEntry(name, strings.Join(red[i], "\n"), ReportEntryVisibilityFailureOrVerbose)
		if len(red[i]) == 0 {
			survivors = append(survivors, name)
		}
	}
	AddReportEntry("rules", fmt.Sprintf("%d changed, %d survived: %q", len(rules), len(survivors), survivors))
	for _, name := range survivors {
		Expect(survivingRules).To(HaveKey(name))
	}
})

// judgeWith judges a record by a model with another rule, and returns the checks
// that are red.
func judgeWith(ctx context.Context, root string, c change, record string) (red []string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	defer os.RemoveAll(dir)             // programs are large
	own := filepath.Join(dir, "record") // who judges a report has it for himself
	Expect(os.CopyFS(own, os.DirFS(record))).To(Succeed())
	original, err := filepath.Abs(filepath.Join(root, c.file))
	Expect(err).NotTo(HaveOccurred())
	mutant := filepath.Join(dir, "mutant.go")
	c.write(root, mutant)
	skewrig := buildSkewrig(ctx, root, dir, map[string]string{original: mutant})
	out, err := exec.CommandContext(ctx, skewrig, "judge", own, oldAPIServer, "--output", "json").Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		Expect(exit.ExitCode()).To(Equal(1), "%s", exit.Stderr)
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	report, err := reports.Read(strings.NewReader(string(out)))
	Expect(err).NotTo(HaveOccurred())
	for _, cell := range report.Cells {
		for _, c := range cell.Checks {
			if !c.Outcome.Expected() {
				red = append(red, cell.ID+" "+c.ID)
			}
		}
	}
	return red
}

// buildSkewrig builds the program with some of its files replaced.
func buildSkewrig(ctx context.Context, root, dir string, replace map[string]string) string {
	GinkgoHelper()
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	Expect(err).NotTo(HaveOccurred())
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "skewrig")
	Expect(os.WriteFile(file, overlay, 0o600)).To(Succeed())
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", file, "-o", binary, "./cmd/skewrig")
	build.Dir = root
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return binary
}
