package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
)

// rightConfig has a name in each place where a user gives one. Its components are not built.
func rightConfig(t *testing.T) Config {
	t.Helper()
	return Config{
		Topology: record.Topology{
			Members: []record.Component{
				{Name: "kube-apiserver/a"}, {Name: "kube-apiserver/b"},
				{Name: "kube-controller-manager", Via: []string{"a"}},
			},
			Nodes: []record.Node{{Name: "node-a", Via: []string{"b"}}},
		},
		Clients: []string{"ci"}, Via: map[string][]string{"ci": {"a", "b"}},
		Links:   []Link{{From: "ci", HTTP: true}, {From: "kube-apiserver/a"}, {From: "kubelet/node-a"}},
		TempDir: t.TempDir(),
		Binary:  func(context.Context, build.Target) (build.Binary, error) { return build.Binary{}, errNoBinary },
		Runtime: func(NodeInfo) (Runtime, error) { return fakeRuntime{}, nil },
	}
}

var errNoBinary = errors.New("no binary")

type fakeRuntime struct{}

func (fakeRuntime) Endpoint() string             { return "unix:///none" }
func (fakeRuntime) Reboot(context.Context) error { return nil }
func (fakeRuntime) Close() error                 { return nil }

// TestTypos: each wrong name is an error before a component is asked for, and never a panic.
func TestTypos(t *testing.T) {
	if _, err := New(t.Context(), rightConfig(t)); !errors.Is(err, errNoBinary) {
		t.Fatalf("the configuration is wrong without a typo: %v", err)
	}
	for _, typo := range []string{"typo", "", "../a"} {
		for place, change := range map[string]func(*Config){
			"a node":                       func(c *Config) { c.Topology.Nodes[0].Name = typo },
			"the API server of a node":     func(c *Config) { c.Topology.Nodes[0].Via[0] = typo },
			"a component":                  func(c *Config) { c.Topology.Members[2].Name = typo },
			"an API server":                func(c *Config) { c.Topology.Members[0].Name = typo },
			"the API server of one":        func(c *Config) { c.Topology.Members[2].Via[0] = typo },
			"the API server of a client":   func(c *Config) { c.Via["ci"][1] = typo },
			"a client":                     func(c *Config) { c.Clients[0] = typo },
			"a link":                       func(c *Config) { c.Links[0].From = typo },
			"all API servers":              func(c *Config) { c.Topology.Members = c.Topology.Members[2:]; c.Topology.Members[0].Name = typo },
			"the only link, and no client": func(c *Config) { c.Clients, c.Links = nil, []Link{{From: typo}} },
		} {
			c := rightConfig(t)
			change(&c)
			if _, err := New(t.Context(), c); err == nil || errors.Is(err, errNoBinary) {
				if place == "a node" && typo == "typo" { // another name, of which only the link does not know
					continue
				}
				t.Errorf("%q as the name of %s: %v", typo, place, err)
			}
		}
	}
}

// TestTwice: nothing has the name of another one.
func TestTwice(t *testing.T) {
	for place, change := range map[string]func(*Config){
		"nodes":       func(c *Config) { c.Topology.Nodes = append(c.Topology.Nodes, c.Topology.Nodes[0]) },
		"API servers": func(c *Config) { c.Topology.Members[1].Name = c.Topology.Members[0].Name },
		"clients":     func(c *Config) { c.Clients = append(c.Clients, "ci") },
		"links":       func(c *Config) { c.Links = append(c.Links, c.Links[0]) },
		"a function":  func(c *Config) { c.Runtime = nil },
		"the builder": func(c *Config) { c.Binary = nil },
	} {
		c := rightConfig(t)
		change(&c)
		if _, err := New(t.Context(), c); err == nil || errors.Is(err, errNoBinary) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestUnknownServer: what is asked of a running rig by a wrong name is an error, too.
func TestUnknownServer(t *testing.T) {
	c := &Cluster{}
	for what, err := range map[string]error{
		"a link":   c.SetLink("typo", record.LinkFault{}),
		"a route":  c.Route("typo", []string{"a"}),
		"a server": func() error { _, err := c.serverOf("typo"); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "typo") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
