package render

import (
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
	cells          map[[4]string][]string
}

// Matrix writes what probes put on the wire and how that went, as a table for
// each kind of probe.
func Matrix(w io.Writer, r reports.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range matrices(r) {
		fmt.Fprintf(t, "%s\n\nAPI SERVER\tKUBELET\t%s\n", m.kind, strings.Join(m.heads(), "\t"))
		for _, l := range m.lines {
			fmt.Fprintf(t, "%s\t%s\t%s\n", l[0], l[1], strings.Join(m.line(l), "\t"))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return nil
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
	for _, o := range reports.Matrix(r.Cells) {
		kind, _, _ := strings.Cut(o.Probe, " ")
		i := slices.IndexFunc(all, func(m matrix) bool { return m.kind == kind })
		if i < 0 {
			i = len(all)
			all = append(all, matrix{kind: kind, cells: make(map[[4]string][]string)})
		}
		all[i].add(o)
	}
	for _, m := range all {
		slices.SortFunc(m.lines, compare)
		slices.SortFunc(m.columns, compare)
	}
	return all
}

func compare(a, b [2]string) int { return slices.Compare(a[:], b[:]) }

func (m *matrix) add(o reports.Observation) {
	line, column := [2]string{o.APIServer, o.Kubelet}, [2]string{o.Probe, o.Server}
	if !slices.Contains(m.lines, line) {
		m.lines = append(m.lines, line)
	}
	if !slices.Contains(m.columns, column) {
		m.columns = append(m.columns, column)
	}
	text := wires[o.Wire]
	if text == "" {
		text = oneLine(o.Wire, maxReason)
	}
	if o.Succeeds {
		text += " ok"
	} else {
		text += " fails"
	}
	key := [4]string{line[0], line[1], column[0], column[1]}
	m.cells[key] = append(m.cells[key], text)
}

func (m *matrix) heads() (heads []string) {
	for _, c := range m.columns {
		heads = append(heads, oneLine(c[0]+" to "+c[1], maxText))
	}
	return heads
}

func (m *matrix) line(l [2]string) (texts []string) {
	for _, c := range m.columns {
		seen := m.cells[[4]string{l[0], l[1], c[0], c[1]}]
		if len(seen) == 0 {
			seen = []string{"-"}
		}
		texts = append(texts, strings.Join(seen, ", "))
	}
	return texts
}
