package record

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/program"
)

var update = flag.Bool("update", false, "write testdata/flags.txt anew")

func outsideNames(all []Outside) (names []string) {
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

func TestOutsideFlags(t *testing.T) {
	for _, tc := range []struct {
		program, name, value string
		why                  reach
	}{
		{"etcd", "log-outputs", "stderr", inside},
		{"etcd", "log-outputs", "rig.log,stdout", inside},
		{"etcd", "log-outputs", "stderr,/home/a/.bashrc", writes},
		{"etcd", "log-outputs", "a/b", writes},
		{"etcd", "log-outputs", "../b", writes},
		{"etcd", "log_outputs", "/b", writes},
		{"etcd", "listen-metrics-urls", "http://0.0.0.0:1", binds},
		{"etcd", "discovery-srv", "example", dials},
		{"etcd", "auth-token", "simple", inside},
		{"etcd", "auth-token", "jwt,pub-key=a", reads},
		{"etcd", "auto-compaction-retention", "1h", inside},
		{APIServer, "audit-log-path", "-", inside},
		{APIServer, "audit-log-path", "audit.log", inside},
		{APIServer, "audit-log-path", "/tmp/audit.log", writes},
		{APIServer, "audit-policy-file", "/etc/passwd", reads},
		{APIServer, "audit-webhook-config-file", "kubeconfig", leads},
		{APIServer, "authorization-mode", "Node,RBAC", inside},
		{APIServer, "authorization-mode", "Node, AlwaysAllow", opens},
		{APIServer, "anonymous-auth", "true", inside},
		{APIServer, "runtime-config", "api/all=true,scheduling.k8s.io/v1beta1=true", inside},
		{APIServer, "service-cluster-ip-range", "10.96.0.0/16", inside},
		{APIServer, "service-account-issuer", "https://example", inside},
		{APIServer, "etcd-servers-overrides", "/pods#x", dials},
		{APIServer, "enable-admission-plugins", "AlwaysPullImages,NodeRestriction", inside},
		{APIServer, "max-requests-inflight", "3", inside},
		{APIServer, "goaway-chance", "0.001", inside},
		{ControllerManager, "controllers", "*,-job-controller", inside},
		{ControllerManager, "flex-volume-plugin-dir", "plugins", runs},
		{ControllerManager, "enable-hostpath-provisioner", "true", changes},
		{ControllerManager, "enable-hostpath-provisioner", "false", inside},
		{Scheduler, "authorization-always-allow-paths", "/healthz,/readyz", inside},
		{Scheduler, "authorization-always-allow-paths", "/*", opens},
		{program.Kubelet, "anonymous-auth", "true", opens},
		{program.Kubelet, "anonymous-auth", "false", inside},
		{program.Kubelet, "authorization-mode", "AlwaysAllow", opens},
		{program.Kubelet, "authorization-mode", "RBAC", opens},
		{program.Kubelet, "authorization-mode", "Webhook", inside},
		{program.Kubelet, "read-only-port", "10255", opens},
		{program.Kubelet, "node-labels", "example.com/a=b", inside},
		{program.Kubelet, "eviction-hard", "memory.available<100Mi,nodefs.available<10%", inside},
		{program.Kubelet, "system-cgroups", "/system", changes},
		// Those of releases to come.
		{program.Kubelet, "new-limit", "5", inside},
		{program.Kubelet, "new-timeout", "1m30s", inside},
		{program.Kubelet, "new-mode", "Strict", inside},
		{program.Kubelet, "new-mode", "example.com/strict=true", inside},
		{program.Kubelet, "new-mode", "/etc/passwd", isPath},
		{program.Kubelet, "new-mode", "a,b=/etc/passwd", isPath},
		{program.Kubelet, "new-mode", "~/x", isPath},
		{program.Kubelet, "new-mode", "a/../../b", isPath},
		{program.Kubelet, "new-mode", "unix:/run/x", isPath},
		{program.Kubelet, "new-mode", "http://a", isAddress},
		{program.Kubelet, "new-mode", "a:80", isAddress},
		{program.Kubelet, "new-mode", ":80", isAddress},
		{program.Kubelet, "new-mode", "[::]:80", isAddress},
		{program.Kubelet, "new-mode", "0.0.0.0", isAddress},
		{program.Kubelet, "new-mode", "::1", isAddress},
		{program.Kubelet, "new-exec-plugin", "drv", unknown},
		{program.Kubelet, "new-files", "a", unknown},
		{program.Kubelet, "new-port", "80", unknown},
		{program.Kubelet, "new-port", "0", inside},
		{program.Kubelet, "new-file-limit", "5", inside},
	} {
		var got reach
		if all := (Settings{Flags: map[string]string{tc.name: tc.value}}).Outside(tc.program); len(all) > 0 {
			got = reach(all[0].Why)
		}
		if got != tc.why {
			t.Errorf("%s --%s=%s: %q, want %q", tc.program, tc.name, tc.value, got, tc.why)
		}
	}
}

func TestOutsideConfig(t *testing.T) {
	for _, tc := range []struct {
		patch map[string]any
		want  []string
	}{
		{map[string]any{"maxPods": 3.0, "nodeStatusUpdateFrequency": "2s", "evictionHard": map[string]any{"memory.available": "1%"}}, nil},
		{map[string]any{"clusterDNS": []any{"10.96.0.10"}, "providerID": "aws:///a/b", "logging": map[string]any{"vmodule": "a=1"}}, nil},
		{map[string]any{"volumePluginDir": "/x"}, []string{"volumePluginDir"}},
		{map[string]any{"volumePluginDir": "x"}, []string{"volumePluginDir"}},
		{map[string]any{"volumePluginDir": nil, "cgroupRoot": nil, "makeIPTablesUtilChains": nil, "resolvConf": nil},
			[]string{"cgroupRoot", "makeIPTablesUtilChains", "volumePluginDir"}},
		{map[string]any{"readOnlyPort": 10255.0, "authorization": map[string]any{"mode": "AlwaysAllow"}}, []string{"authorization.mode", "readOnlyPort"}},
		{map[string]any{"authentication": map[string]any{"anonymous": map[string]any{"enabled": true}, "webhook": map[string]any{"enabled": false}}},
			[]string{"authentication.anonymous.enabled"}},
		{map[string]any{"tracing": map[string]string{"endpoint": "a:1"}}, []string{"tracing.endpoint"}},
		{map[string]any{"tracing": map[string]any{"samplingRatePerMillion": 1}}, []string{"tracing.samplingRatePerMillion"}},
		{map[string]any{"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "0s"}, []string{"shutdownGracePeriod"}},
		{map[string]any{"shutdownGracePeriod": "0s", "shutdownGracePeriodByPodPriority": nil}, []string{"shutdownGracePeriodByPodPriority"}},
		{map[string]any{"staticPodURL": "http://a/pod", "staticPodURLHeader": map[string]any{"a": []any{"b"}}}, []string{"staticPodURL", "staticPodURLHeader.a"}},
		{map[string]any{"extenders": []map[string]any{{"urlPrefix": "http://a"}}}, []string{"extenders.urlPrefix"}},
		{map[string]any{"profiles": []any{map[string]any{"schedulerName": "default-scheduler", "pluginConfig": []any{map[string]any{"args": map[string]any{
			"defaultConstraints": []any{map[string]any{"topologyKey": "kubernetes.io/hostname"}},
		}}}}}}, nil},
		{map[string]any{"resolvConf": "/etc/hosts"}, []string{"resolvConf"}},
		{map[string]any{"enableSystemLogHandler": false}, nil},
		{map[string]any{"enableSystemLogHandler": true, "enableSystemLogQuery": nil}, []string{"enableSystemLogHandler", "enableSystemLogQuery"}},
		{map[string]any{"newDir": "x", "newMode": map[string]any{"deep": []any{"a", "/b"}}, "newLimit": 7}, []string{"newDir", "newMode.deep"}},
	} {
		if got := outsideNames(Settings{Config: tc.patch}.Outside(program.Kubelet)); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %q, want %q", tc.patch, got, tc.want)
		}
	}
}

// The places of values that are not allowed are those of the settings.
func TestOutsidePath(t *testing.T) {
	all := Settings{Flags: map[string]string{"log-dir": "/x"}, Config: map[string]any{"extenders": []any{map[string]any{"urlPrefix": "x"}}}}.Outside(Scheduler)
	if len(all) != 2 || all[0].Path != `flags["log-dir"]` || all[1].Path != `config["extenders"][0]["urlPrefix"]` {
		t.Errorf("%+v", all)
	}
}

// TestReleasedFlags judges each flag of a release by hand: a line of testdata/flags.txt has a program, its flag, and
// how its values are judged. A flag that no table has is judged by its name or by its value.
func TestReleasedFlags(t *testing.T) {
	const file = "testdata/flags.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		fmt.Fprintf(&now, "%s %s %s\n", fields[0], fields[1], judgedBy(fields[1]))
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if now.String() != string(text) {
		t.Errorf("%s differs: run go test ./record -update and read what changed", file)
	}
}

func judgedBy(flag string) string {
	if _, own := program.OwnFlag(flag); own {
		return "rig"
	}
	names := map[reach]string{inside: "harmless", runs: "runs", leads: "leads", reads: "reads", writes: "writes", dials: "dials", binds: "binds", changes: "changes", opens: "opens", shows: "shows"}
	if why, _, is := switchOf(flag); is {
		return names[why]
	}
	if why, is := reachOf[flag]; is {
		return names[why]
	}
	if reachesUnknown(wordsOf(flag), "x") == unknown {
		return "name"
	}
	return "value"
}

// No setting is in two lists: one of them would not count.
func TestOutsideListsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, names := range places {
		for _, name := range slices.Concat(strings.Fields(names)) {
			if seen[name] {
				t.Errorf("%s is listed twice", name)
			}
			seen[name] = true
		}
	}
	for _, settings := range switches {
		for name := range settings {
			if seen[name] {
				t.Errorf("%s is listed twice", name)
			}
			seen[name] = true
		}
	}
}
