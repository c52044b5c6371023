package cluster

import (
	"encoding/json"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// confine makes a scheduler choose the nodes that the cell uses, for a pod that says itself nothing of which nodes it must
// have.
func (s *Session) confine(pod map[string]any) {
	affinity, _ := pod["affinity"].(map[string]any)
	affinity = maps.Clone(affinity)
	if affinity == nil {
		affinity = make(map[string]any)
	}
	of, _ := affinity["nodeAffinity"].(map[string]any)
	of = maps.Clone(of)
	if of == nil {
		of = make(map[string]any)
	}
	maps.Copy(of, s.required())
	affinity["nodeAffinity"], pod["affinity"] = of, affinity
}

// required returns the part of a node affinity that allows the cell's nodes only. A term can have one name, and one of the
// terms has to be met.
func (s *Session) required() map[string]any {
	var terms []any
	for _, node := range s.tenant.Cell.Topology.Nodes {
		terms = append(terms, map[string]any{"matchFields": []any{
			map[string]any{"key": "metadata.name", "operator": "In", "values": []any{s.nodeName(node.Name)}},
		}})
	}
	return map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": terms}}
}

// confinement returns the texts that confine adds to a pod, as compact JSON has them, longest first: the affinity, and who
// manages those fields, as a client that creates an object does and as one that applies it.
func (s *Session) confinement() (all []string) {
	body, err := json.Marshal(s.required())
	if err != nil {
		return nil // it is made of texts
	}
	const managed = `"f:requiredDuringSchedulingIgnoredDuringExecution":{}`
	for _, of := range []struct{ prefix, is, required string }{
		{"", "", string(body[1 : len(body)-1])}, {"f:", `".":{},`, managed}, {"f:", "", managed},
	} {
		node := `"` + of.prefix + `nodeAffinity":{` + of.is + of.required + `}`
		affinity := `"` + of.prefix + `affinity":{` + of.is + node + `}`
		for _, text := range []string{affinity, node, of.required} {
			all = append(all, text+",", ","+text, text)
		}
	}
	return all
}

// rewriting gives a record of a cell the scenario's names, and takes out of it what a report that is published must not have.
func (s *Session) rewriting() func(string) string {
	pairs := make(map[string]string)
	if !s.terms.Own {
		pairs = private(s.tenant.Cell, s.fit, s.api.User(), s.api.Host())
	}
	for name, node := range s.fit.Nodes {
		if node.Name != name {
			pairs[node.Name] = name
		}
	}
	var removed []string
	for _, text := range append(s.confinement(), s.names.Suffix) {
		removed = append(removed, text, "")
	}
	remove, rename := strings.NewReplacer(removed...), renaming(pairs)
	return func(text string) string {
		if s.player != nil {
			text = s.player.received(text)
		}
		return rename(remove.Replace(text))
	}
}

// private is what a report must not have of a cluster of others, with what it has instead: the user who asked, the
// nodes' addresses, and the API server's host. What the scenario says itself stays, and so does an address that is
// any machine's own.
func private(cell plan.Cell, on fit.Fit, user, host string) map[string]string {
	pairs, said := make(map[string]string), fit.Mentions(cell)
	add := func(name, instead string) {
		if name != "" && !said(name) {
			pairs[name] = instead
		}
	}
	add(user, "user")
	for name, node := range on.Nodes {
		for _, address := range node.Addresses {
			add(address, name)
		}
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		add(host, record.APIServer)
	}
	return pairs
}

// renaming puts others in the place of names, wherever they are not part of a longer one.
func renaming(pairs map[string]string) func(string) string {
	if len(pairs) == 0 {
		return func(text string) string { return text }
	}
	names := slices.SortedFunc(maps.Keys(pairs), func(a, b string) int { return len(b) - len(a) })
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	one := regexp.MustCompile(strings.Join(names, "|"))
	return func(text string) string {
		var renamed strings.Builder
		at := 0
		for _, found := range one.FindAllStringIndex(text, -1) {
			if !fit.Bounded(text, found[0], found[1]) {
				continue
			}
			renamed.WriteString(text[at:found[0]])
			renamed.WriteString(pairs[text[found[0]:found[1]]])
			at = found[1]
		}
		renamed.WriteString(text[at:])
		return renamed.String()
	}
}
