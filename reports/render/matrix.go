package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/skewrig/skewrig/reports"
)

// wires are the short names of what a probe begins with.
var wires = map[string]string{
	"tls-client-hello": "TLS", "http2-preface": "HTTP/2", "http1-request": "HTTP/1.1",
}

// matrix is the observations of one kind of probe as a table: a line for each
// pair of API server and kubelet, a column for each probe and server.
type matrix struct {
	kind           string
	lines, columns [][2]string
	observed       []reports.Observation
}

// Matrix writes what probes put on the wire and how that went, as a table for
// each kind of probe.
func Matrix(w io.Writer, r reports.Report) error {
	var table gathered
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, m := range matrices(r) {
		fmt.Fprintf(t, "%s\n\nAPI SERVER\tKUBELET\t%s\n", oneLine(m.kind, maxText), strings.Join(m.heads(), "\t"))
		for _, l := range m.lines {
			fmt.Fprintf(t, "%s\t%s\t%s\n", oneLine(l[0], maxText), oneLine(l[1], maxText), strings.Join(m.line(l), "\t"))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return table.writeTo(w, "the matrix")
}

// MatrixMarkdown writes the same in Markdown.
func MatrixMarkdown(w io.Writer, r reports.Report) error {
	var md markdown
	md.printf("# Bytes of probes\n\n")
	for _, m := range matrices(r) {
		md.printf("## %s\n\n", text(m.kind))
		var rows [][]string
		for _, l := range m.lines {
			row := []string{text(l[0]), text(l[1])}
			for _, cell := range m.line(l) {
				row = append(row, text(cell))
			}
			rows = append(rows, row)
		}
		header := []string{"API server", "kubelet"}
		for _, head := range m.heads() {
			header = append(header, text(head))
		}
		md.table(rows, header...)
		md.printf("\n")
	}
	return md.writeTo(w, "the matrix")
}

func matrices(r reports.Report) (all []matrix) {
	kindOf := func(o reports.Observation) string {
		kind, _, _ := strings.Cut(o.Probe, " ")
		return kind
	}
	for _, observed := range reports.Grouped(reports.Matrix(r.Cells), kindOf) {
		m := matrix{kind: kindOf(observed[0]), observed: observed}
		for _, o := range observed {
			m.lines, m.columns = append(m.lines, lineOf(o)), append(m.columns, columnOf(o))
		}
		m.lines, m.columns = sorted(m.lines), sorted(m.columns)
		all = append(all, m)
	}
	return all
}

func lineOf(o reports.Observation) [2]string   { return [2]string{o.APIServer, o.Kubelet} }
func columnOf(o reports.Observation) [2]string { return [2]string{o.Probe, o.Server} }

func sorted(all [][2]string) [][2]string {
	slices.SortFunc(all, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(all)
}

func (m *matrix) heads() (heads []string) {
	for _, c := range m.columns {
		heads = append(heads, oneLine(c[0]+" to "+c[1], maxText))
	}
	return heads
}

func (m *matrix) line(l [2]string) (texts []string) {
	for _, c := range m.columns {
		var seen []string
		for _, o := range m.observed {
			if lineOf(o) == l && columnOf(o) == c {
				seen = append(seen, howItWent(o))
			}
		}
		texts = append(texts, cmp.Or(strings.Join(seen, ", "), "-"))
	}
	return texts
}

func howItWent(o reports.Observation) string {
	wire := cmp.Or(wires[o.Wire], oneLine(o.Wire, maxReason))
	if o.Succeeds {
		return wire + " ok"
	}
	return wire + " fails"
}
