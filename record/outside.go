package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/program"
)

// Outside is a setting of a component that reaches beyond its rig.
type Outside struct {
	// Path is where the settings have it: flags["audit-log-path"], config["extenders"][0]["urlPrefix"].
	Path string
	// Name is that of the flag, or that of the field with dots.
	Name string
	// Value is nil for one that is left to the release.
	Value any
	// Why says what the component does with it.
	Why string
}

// Error returns why the setting is not allowed.
func (o Outside) Error() string {
	if o.Value == nil {
		return fmt.Sprintf("%s: null is not allowed: %s", o.Name, o.Why)
	}
	return fmt.Sprintf("%s: %q is not allowed: %s", o.Name, fmt.Sprint(o.Value), o.Why)
}

// reach is what a component does with the value of a setting.
type reach string

const (
	inside  reach = ""
	runs    reach = "the component runs programs that it finds there"
	leads   reach = "the file may name programs to run, addresses to connect to, and other files"
	reads   reach = "the component reads a file outside of the rig"
	writes  reach = "the component writes files outside of the rig"
	dials   reach = "the component connects to an address outside of the rig"
	binds   reach = "the component listens at an address that the rig does not give it"
	opens   reach = "it lets in clients without credentials"
	changes reach = "the component changes this machine"
	shows   reach = "the component serves the log files of this machine"

	isPath    reach = "it is a path outside of the rig"
	isAddress reach = "it is an address, and a rig has addresses of its own"
	unknown   reach = "it may be a path or an address: skewrig does not know what the component does with it"
)

// places are the settings whose value says where to find something, by what the component does with
// it. Flags are named as on the command line, fields of configuration files by their paths. Those
// that a rig sets itself are not listed.
var places = map[reach]string{
	runs: `volume-plugin-dir flex-volume-plugin-dir experimental-mounter-path image-credential-provider-bin-dir
		imageCredentialProviderBinDir volumePluginDir`,
	leads: `admission-control-config-file audit-webhook-config-file authentication-config authentication-token-webhook-config-file
		authorization-config authorization-webhook-config-file bootstrap-kubeconfig cloud-config egress-selector-config-file
		encryption-provider-config image-credential-provider-config pod-manifest-path pv-recycler-pod-template-filepath-hostpath
		pv-recycler-pod-template-filepath-nfs tracing-config-file imageCredentialProviderConfigPath`,
	reads: `allow-metric-labels-manifest audit-policy-file auth-token client-cert-file client-crl-file client-key-file
		cluster-signing-cert-file cluster-signing-key-file cluster-signing-kube-apiserver-client-cert-file
		cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file
		cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file cluster-signing-legacy-unknown-cert-file
		cluster-signing-legacy-unknown-key-file container-hints machine-id-file oidc-ca-file peer-client-cert-file peer-client-key-file
		peer-crl-file proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file resolv-conf tls-sni-cert-key token-auth-file
		authentication.x509.clientCAFile resolvConf`,
	writes: `audit-log-path debug-socket-path lock-file log-dir log-file log-outputs wal-dir write-config-to`,
	dials: `audit-webhook-server containerd discovery discovery-endpoints discovery-proxy discovery-srv discovery-srv-name
		distributed-tracing-address docker etcd-servers-overrides experimental-distributed-tracing-address image-service-endpoint
		manifest-url manifest-url-header oidc-issuer-url service-account-signing-endpoint storage-driver-host
		extenders imageServiceEndpoint staticPodURL staticPodURLHeader tracing.endpoint`,
	binds: `listen-client-http-urls listen-metrics-urls metrics-bind-address webhook-bind-address
		healthzBindAddress metricsBindAddress`,
	changes: `cgroup-root kube-reserved-cgroup kubelet-cgroups runtime-cgroups system-cgroups system-reserved-cgroup
		cgroupRoot kubeReservedCgroup kubeletCgroups systemCgroups systemReservedCgroup allowed-unsafe-sysctls allowedUnsafeSysctls
		defaultPodSysctls`,
	// Names, patterns and addresses that nothing connects to, listens at or opens.
	inside: `advertise-client-urls api-audiences authorization-webhook-version authentication-token-webhook-version audit-webhook-version
		audit-webhook-mode audit-log-format audit-log-version auto-compaction-mode audit-webhook-batch-max-size
		client-cert-allowed-hostname cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs cluster-cidr cluster-dns
		cluster-domain cors cors-allowed-origins endpoint-reconciler-type etcd-prefix external-hostname host-whitelist
		initial-cluster-state initial-cluster-token kubelet-port kubelet-preferred-address-types kubernetes-service-node-port leader-elect-resource-lock
		log-rotation-config-json node-cidr-mask-size node-labels non-masquerade-cidr oidc-client-id oidc-groups-prefix oidc-required-claim
		oidc-username-prefix peer-cert-allowed-cn peer-cert-allowed-hostname pod-cidr provider-id proxy-cidr-allowlist
		register-with-taints requestheader-allowed-names requestheader-extra-headers-prefix requestheader-group-headers
		requestheader-uid-headers requestheader-username-headers runtime-config service-account-issuer service-account-jwks-uri
		service-cluster-ip-range service-node-port-range storage-media-type strict-transport-security-directives
		tls-cipher-suites watch-cache-sizes kube-api-content-type
		clusterDNS clusterDomain contentType logging.vmodule podCIDR preloadedImagesVerificationAllowlist profiles providerID
		registerWithTaints clientConnection.acceptContentTypes clientConnection.contentType`,
}

// reachOf is places by the setting.
var reachOf = func() map[string]reach {
	of := make(map[string]reach)
	for reach, names := range places {
		for name := range strings.FieldsSeq(names) {
			of[name] = reach
		}
	}
	return of
}()

// switches are the settings by which a component reaches beyond its rig whatever they name, by what it does, and the
// values with which it does not.
var switches = map[reach]map[string][]string{
	opens: {
		"authorization-mode": {"Node", "RBAC", "ABAC", "Webhook", "AlwaysDeny"}, "authorization-always-allow-paths": {"/healthz", "/readyz", "/livez"},
		"read-only-port": {"0"}, "kubelet-read-only-port": nil, "insecure-port": {"0"},
		"anonymous-auth": {"false"}, "readOnlyPort": {"0"}, "authentication.anonymous.enabled": {"false"}, "authorization.mode": {"Webhook"},
	},
	dials: {"enable-distributed-tracing": {"false"}, "experimental-enable-distributed-tracing": {"false"}, "tracing.samplingRatePerMillion": {"0"}},
	changes: {
		"enable-hostpath-provisioner": {"false"}, "make-iptables-util-chains": {"false"}, "makeIPTablesUtilChains": {"false"},
		// With these, a kubelet delays the shutdown of the machine, by D-Bus and a file of logind.
		"shutdownGracePeriod": {"0", "0s"}, "shutdownGracePeriodByPodPriority": nil,
	},
	shows: {"enable-logs-handler": {"false"}, "enableSystemLogHandler": {"false"}, "enableSystemLogQuery": {"false"}},
}

// switchOf returns what a component does with a setting that is a switch, and the values with which it does not.
func switchOf(name string) (why reach, harmless []string, is bool) {
	for why, settings := range switches {
		if harmless, is = settings[name]; is {
			return why, harmless, true
		}
	}
	return inside, nil, false
}

// Outside returns the settings of a program that reach beyond its rig, in the order of their names.
// That an API server lets in anonymous clients is its default: what they may do is up to RBAC.
func (s Settings) Outside(of string) (all []Outside) {
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		known := program.FlagName(name)
		if of == program.Kubelet && known == "authorization-mode" {
			known = "authorization.mode"
		}
		if why := reaches(known, s.Flags[name]); why != inside && (of != program.APIServer || known != "anonymous-auth") {
			all = append(all, Outside{Path: fmt.Sprintf("flags[%q]", name), Name: name, Value: s.Flags[name], Why: string(why)})
		}
	}
	return append(all, outsideFields("config", nil, plain(s.Config))...)
}

// plain is a configuration as JSON has it: Go may have typed maps and lists in it.
func plain(config map[string]any) any {
	if len(config) == 0 {
		return map[string]any{}
	}
	text, err := json.Marshal(config)
	if err != nil {
		return config
	}
	var decoded map[string]any
	if json.Unmarshal(text, &decoded) != nil {
		return config
	}
	return decoded
}

// outsideFields are those of a value in a configuration file.
func outsideFields(path string, names []string, value any) (all []Outside) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, outsideFields(fmt.Sprintf("%s[%q]", path, key), append(slices.Clone(names), key), value[key])...)
		}
	case []any:
		for i, item := range value {
			all = append(all, outsideFields(fmt.Sprintf("%s[%d]", path, i), names, item)...)
		}
	default:
		if why := fieldReaches(names, value); why != inside {
			all = append(all, Outside{Path: path, Name: strings.Join(names, "."), Value: value, Why: string(why)})
		}
	}
	return all
}

// fieldReaches is reaches for a field, which may be within one that is known.
func fieldReaches(names []string, value any) reach {
	for n := len(names); n > 0; n-- {
		name := strings.Join(names[:n], ".")
		switch {
		case !isKnown(name):
		case value == nil:
			return leftToRelease(name)
		default:
			return reaches(name, fmt.Sprint(value))
		}
	}
	if value == nil {
		return inside
	}
	return reachesUnknown(wordsOf(names[len(names)-1]), fmt.Sprint(value))
}

// leftToRelease is what a component does with its release's own value of a setting that a rig may have set
// so that it changes nothing.
func leftToRelease(name string) reach {
	why, _, is := switchOf(name)
	if !is {
		why = reachOf[name]
	}
	if why == runs || why == changes || why == shows {
		return why
	}
	return inside
}

func isKnown(name string) bool {
	_, _, is := switchOf(name)
	_, place := reachOf[name]
	return is || place
}

// reaches says what a component does with a value beyond its rig.
func reaches(name, value string) reach {
	if why, harmless, is := switchOf(name); is {
		return unlessAll(value, harmless, why)
	}
	switch why, known := reachOf[name]; {
	case value == "" || known && why == inside:
		return inside
	case why == reads || why == writes:
		if slices.ContainsFunc(strings.Split(value, ","), func(part string) bool { return !bareName.MatchString(part) }) {
			return why
		}
		return inside
	case known:
		return why
	default:
		return reachesUnknown(wordsOf(name), value)
	}
}

// reachesUnknown is reaches for a setting that skewrig does not know, by the words of its name and
// the look of its value.
func reachesUnknown(words []string, value string) reach {
	switch {
	case slices.Contains(words, "port") && portNumber.MatchString(value):
		return unknown
	case scalar.MatchString(value):
		return inside
	case slices.ContainsFunc(words, func(word string) bool { return slices.Contains(placeWords, word) }):
		return unknown
	case strings.Contains(value, "://") || hostPort.MatchString(value) || slices.ContainsFunc(strings.FieldsFunc(value, separates), isIP):
		return isAddress
	case leadingOut.MatchString(value):
		return isPath
	default:
		return inside
	}
}

// unlessAll is why, unless each part of a value is harmless.
func unlessAll(value string, harmless []string, why reach) reach {
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(harmless, part) {
			return why
		}
	}
	return inside
}

// bareName is the name of a file in the rig's own directory, in which components run, and in which a
// name without a directory can't lead elsewhere.
var bareName = regexp.MustCompile(`^[A-Za-z0-9_-]?([A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$`)

// scalar is a truth value, a number, a quantity or a duration, which name no place.
var scalar = regexp.MustCompile(`^(?i:true|false|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([a-zµ%]{0,2}|e[+-]?[0-9]+)|([0-9.]+(h|m|s|ms|us|µs|ns))+)$`)

// placeWords are the words in names of settings whose value may say where to find something.
var placeWords = strings.Fields(`addr address addresses bin binary bind cacert cafile cert certfile certificate command conf config crl dial dir
	directory dirs endpoint endpoints exec executable file filename filepath files host hosts key keyfile kubeconfig listen listener
	manifest manifests output outputs path paths plugin program proxy script server servers socket sockets template upstream uri url
	urls webhook`)

var wordEnd = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// wordsOf are the words of a flag, and of a field in camel case.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(wordEnd.ReplaceAllString(name, "$1-$2")), func(r rune) bool { return strings.ContainsRune("-._", r) })
}

var (
	// leadingOut is an absolute path, one of a user's directory, or one that goes up.
	leadingOut = regexp.MustCompile(`(^|[=,;:\s"'\[{@])[/~]|(^|[/=,;:\s])\.\.(/|$)|\\`)
	portNumber = regexp.MustCompile(`^[1-9][0-9]*$`)
	hostPort   = regexp.MustCompile(`(^|[=,;@\s])(\[[0-9A-Fa-f:.%]*\]|[A-Za-z0-9.-]*):[0-9]+($|[/,;\s])`)
)

func separates(r rune) bool { return strings.ContainsRune(",;= ", r) }

// isIP reports whether a text is an IP address, or a range of them.
func isIP(text string) bool {
	_, err := netip.ParseAddr(text)
	_, rangeErr := netip.ParsePrefix(text)
	return err == nil || rangeErr == nil
}
