package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// validate returns all that is wrong with the configuration, before anything starts.
func (cfg *Config) validate() error {
	var problems []error
	report := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	nodes := cfg.Topology.Nodes
	report(cfg.Binary == nil, "Binary: required value")
	report(cfg.Runtime == nil && len(nodes) > 0, "Runtime: required value: the topology has nodes")
	report(len(nodes) > maxNodes, "%d nodes: a rig can have %d", len(nodes), maxNodes)
	names := make(map[string]bool)
	for i, n := range nodes {
		at := fmt.Sprintf("Topology.Nodes[%d].Name", i)
		problems = append(problems, checkLabel(at, n.Name), cfg.checkSettings("kubelet/"+n.Name, n.Settings))
		report(names[n.Name], "two nodes have the name %q", n.Name)
		names[n.Name] = true
	}
	if cfg.On == nil {
		problems = append(problems, cfg.validateControlPlane())
	}
	return errors.Join(append(problems, cfg.validateClients(), cfg.validateVia())...)
}

func checkLabel(at, name string) error {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return fmt.Errorf("%s: invalid value %q: %s", at, name, strings.Join(wrong, "; "))
	}
	return nil
}

func (cfg *Config) validateControlPlane() error {
	problems := []error{cfg.checkSettings(program.Etcd, cfg.Topology.Etcd)}
	of := make(map[string]int) // by program
	programs := program.Names(program.Server, program.Controller)
	names := make(map[string]bool)
	for i, comp := range cfg.Topology.ControlPlane() {
		at := fmt.Sprintf("Topology.Members[%d].Name", i)
		kind, member, named := strings.Cut(comp.Name, "/")
		if named {
			problems = append(problems, checkLabel(at, member))
		}
		if !slices.Contains(programs, kind) {
			problems = append(problems, fmt.Errorf("%s: unsupported value %q: supported programs: %q", at, comp.Name, programs))
		}
		if names[comp.Name] {
			problems = append(problems, fmt.Errorf("%s: duplicate value %q", at, comp.Name))
		}
		names[comp.Name] = true
		of[kind]++
		problems = append(problems, cfg.checkSettings(comp.Name, comp.Settings))
	}
	if of[program.APIServer] == 0 {
		problems = append(problems, errors.New("Topology.Members: no API server"))
	}
	for kind, number := range of {
		if number > maxNodes-1 {
			problems = append(problems, fmt.Errorf("%d of %s: a rig can have %d", number, kind, maxNodes-1))
		}
	}
	return errors.Join(problems...)
}

// validateClients judges the names of clients. Those of links are for checkLinks.
func (cfg *Config) validateClients() error {
	var problems []error
	for i, name := range cfg.Clients {
		if name == "" || slices.Contains(cfg.Clients[:i], name) {
			problems = append(problems, fmt.Errorf("client %d: the name %q is empty, or there are two", i, name))
		}
	}
	for i, l := range cfg.Links {
		if slices.ContainsFunc(cfg.Links[:i], func(other Link) bool { return other.From == l.From }) {
			problems = append(problems, fmt.Errorf("Links[%d].From: duplicate value %q", i, l.From))
		}
	}
	return errors.Join(problems...)
}

// validateVia judges the names of API servers to which components and clients connect.
func (cfg *Config) validateVia() error {
	of := cfg.Topology
	if cfg.On != nil {
		of = cfg.On.host().cfg.Topology
	}
	var servers []string
	for _, name := range of.Servers() {
		servers = append(servers, record.Member(name))
	}
	var problems []error
	check := func(at string, via []string) {
		for _, name := range via {
			if name == "" || !slices.Contains(servers, name) {
				problems = append(problems, fmt.Errorf("%s: unsupported value %q: supported values: %q", at, name, servers))
			}
		}
	}
	for i, n := range cfg.Topology.Nodes {
		check(fmt.Sprintf("Topology.Nodes[%d].Via", i), n.Via)
	}
	for i, comp := range cfg.Topology.ControlPlane() {
		check(fmt.Sprintf("Topology.Members[%d].Via", i), comp.Via)
	}
	for client, via := range cfg.Via {
		check(fmt.Sprintf("Via[%q]", client), via)
	}
	return errors.Join(problems...)
}

// checkSettings returns those of a component's settings that reach beyond the rig, unless that is allowed.
func (cfg *Config) checkSettings(component string, s record.Settings) error {
	if cfg.AllowHost {
		return nil
	}
	var problems []error
	for _, o := range s.Outside(record.Program(component)) {
		problems = append(problems, fmt.Errorf("%s: %w", component, o))
	}
	return errors.Join(problems...)
}
