package agnhost

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runner runs a program once its flags are set, and returns its exit code.
type runner func(ctx context.Context, p *process) int

// program is a subcommand of agnhost.
type program struct {
	name, short string
	// anyArgs is set if arguments other than flags are taken.
	anyArgs bool
	// flags adds the program's flags and returns what they are for.
	flags func(*pflag.FlagSet) runner
}

// programs returns the subcommands that are played.
func programs() []program {
	return []program{
		{name: "entrypoint-tester", short: "Prints its arguments and exits", anyArgs: true, flags: entrypointTester},
		{name: "etc-hosts", short: "Prints /etc/hosts", flags: etcHosts},
		{name: "grpc-health-checking", short: "Serves gRPC health checks", flags: grpcHealthChecking},
		{name: "h2c-server", short: "Serves HTTP/2 in plaintext, with prior knowledge", flags: h2cServer},
		{name: "liveness", short: "Serves HTTP, and is alive for 10 seconds", flags: liveness},
		{name: "logs-generator", short: "Writes lines to the log at an even pace", flags: logsGenerator},
		{name: "mounttest", short: "Writes, reads and describes files", flags: mountTest},
		{name: "netexec", short: "Serves HTTP(S) and UDP with various endpoints", flags: netexec},
		{name: "pause", short: "Waits for a signal", flags: pauseProgram},
		{name: "porter", short: "Serves on the ports that the environment names", flags: porter},
		{name: "serve-hostname", short: "Serves the host name over HTTP, TCP or UDP", flags: serveHostname},
		{name: "tcp-reset", short: "Accepts TCP connections and resets them", flags: tcpReset},
		{name: "test-webserver", short: "Serves the container's files over HTTP", flags: testWebserver},
	}
}

// notPlayedHere are agnhost's other subcommands.
func notPlayedHere() []string {
	return []string{
		"audit-proxy", "connect", "crd-conversion-webhook", "dns-server-list", "dns-suffix",
		"external-metrics", "fake-gitserver", "fake-registry-server", "guestbook", "inclusterclient",
		"mtlsclient", "mtlsserver", "net", "nettest", "no-snat-test", "no-snat-test-proxy", "nonewprivs",
		"podcertificatesigner", "port-forward-tester", "resource-consumer-controller", "stress",
		"test-service-account-issuer-discovery", "webhook",
	}
}

// execute runs the subcommand that the arguments name. A command line that is
// wrong ends as it does with k8s.io/component-base/cli.Run.
func execute(ctx context.Context, p *process) int {
	code := 0
	root := newRoot(p, &code)
	// Not nil: cobra would take this process's own.
	root.SetArgs(append([]string{}, p.Args[1:]...))
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(p.Stderr, "Error: %v\n", err)
		return exitError
	}
	return code
}

func newRoot(p *process, code *int) *cobra.Command {
	root := &cobra.Command{Use: "app", Version: "skewrig", SilenceErrors: true, SilenceUsage: true}
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetGlobalNormalizationFunc(dashes)
	loggingFlags(root.PersistentFlags())
	for _, program := range programs() {
		root.AddCommand(newCommand(program, p, code))
	}
	for _, name := range notPlayedHere() {
		root.AddCommand(&cobra.Command{Use: name, Hidden: true, DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("skewrig doesn't implement agnhost's %s; it implements %s", name, strings.Join(played(), ", "))
		}})
	}
	return root
}

func newCommand(program program, p *process, code *int) *cobra.Command {
	command := &cobra.Command{Use: program.name, Short: program.short, Args: cobra.MaximumNArgs(0)}
	if program.anyArgs {
		command.Args = cobra.ArbitraryArgs
	}
	run := program.flags(command.Flags())
	command.Run = func(command *cobra.Command, _ []string) { *code = run(command.Context(), p) }
	return command
}

func played() []string {
	var names []string
	for _, program := range programs() {
		names = append(names, program.name)
	}
	return names
}

// dashes makes --fs_type and --fs-type one flag.
func dashes(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// loggingFlags are those of every Kubernetes component. They are taken, and
// nothing comes of them.
func loggingFlags(flags *pflag.FlagSet) {
	flags.IntP("v", "v", 0, "number for the log level verbosity")
	flags.String("vmodule", "", "comma-separated list of pattern=N settings for file-filtered logging")
	flags.Duration("log-flush-frequency", 0, "Maximum number of seconds between log flushes")
}
