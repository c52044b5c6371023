// Command kubelet is the kubelet of the release it is compiled against, started
// through the kubelet's own Run function with its own flags and configuration
// file. Only what would need root, cgroups or a container engine is replaced
// (see host.go); the sync loop, the pod workers, the prober, the status manager
// and every client are the release's own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as in the release's own main
	"k8s.io/component-base/metrics/prometheus/feature"
	_ "k8s.io/component-base/metrics/prometheus/version" // version metric, as in the release's own main
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
)

func main() {
	if err := run(untilSignal(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

// untilSignal returns a context that ends with SIGTERM or SIGINT. The next signal ends the process. Releases have such
// a function, but not all in the same package.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	return ctx
}

// run parses the kubelet's own flags, loads --config and hands over to the
// kubelet. Unlike the release's main it takes every configuration value from
// the file: flags that duplicate file fields are not offered.
func run(ctx context.Context, args []string) error {
	flags := options.NewKubeletFlags()
	fs := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(fs)
	bootIDFile := fs.String("boot-id-file", "/proc/sys/kernel/random/boot_id", "The file that has the boot ID of the node, as cAdvisor's flag of that name.")
	hostRoot := fs.String("host-root", "", "The directory that stands for the root of the node's file system in the host paths of pods. If unset, they are those of this machine.")
	machine := fs.String("machine", "{}", "What cAdvisor says of the node's machine beside its boot ID, as JSON: num_cores, memory_capacity.")
	verflag.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	verflag.PrintAndExitIfRequested()
	if err := options.ValidateKubeletFlags(flags); err != nil {
		return err
	}

	config, err := loadConfig(ctx, flags.KubeletConfigFile)
	if err != nil {
		return fmt.Errorf("loading %s: %w", flags.KubeletConfigFile, err)
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return fmt.Errorf("setting feature gates: %w", err)
	}
	logs.InitLogs()
	if _, err := logs.GlogSetter(fmt.Sprint(config.Logging.Verbosity)); err != nil {
		return fmt.Errorf("setting log level: %w", err)
	}

	server := &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}
	deps, err := app.UnsecuredDependencies(ctx, server, utilfeature.DefaultFeatureGate)
	if err != nil {
		return fmt.Errorf("constructing the kubelet's dependencies: %w", err)
	}
	bootID, err := os.ReadFile(*bootIDFile)
	if err != nil {
		return fmt.Errorf("reading the boot ID: %w", err)
	}
	said, err := json.Marshal(map[string]string{"boot_id": strings.TrimSpace(string(bootID))})
	if err != nil {
		return err
	}
	if err := simulateHost(deps, server, []string{*machine, string(said)}, *hostRoot); err != nil {
		return fmt.Errorf("simulating the host: %w", err)
	}
	if err := addMetrics(utilfeature.DefaultMutableFeatureGate, feature.RecordFeatureInfo); err != nil {
		return err
	}
	return app.Run(ctx, server, deps, utilfeature.DefaultFeatureGate)
}

// addMetrics has the metrics show the feature gates. Until v1.37, gates record themselves; since v1.38, by a function that
// they are given. Its type is inferred.
func addMetrics[Record any](gates any, record Record) error {
	switch of := gates.(type) {
	case interface{ AddMetrics() }:
		of.AddMetrics()
	case interface{ AddMetrics(record Record) }:
		of.AddMetrics(record)
	default:
		return errors.New("the metrics of feature gates have neither of the forms that are known (AddMetrics in harness/engine/kubelet/main.go)")
	}
	return nil
}

func loadConfig(ctx context.Context, path string) (*kubeletconfig.KubeletConfiguration, error) {
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, path)
	if err != nil {
		return nil, err
	}
	return loader.Load(ctx)
}
