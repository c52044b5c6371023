package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/narrate"
)

// chunk is how many cells are packed together: so many that packing is worth it,
// and so few that unpacking takes no time that a reader would notice.
const chunk = 40

// index is what the scripts know from the start. Everything else is unpacked when
// it is asked for: the cells as the report has them are in chunks, a cell's narration
// in a block of its own.
type index struct {
	Chunk        int                 `json:"chunk"`
	Cells        []indexed           `json:"cells"`
	Requirements []requirement       `json:"requirements"`
	Outcomes     []outcome           `json:"outcomes"`
	Releases     []string            `json:"releases"`
	Components   []reports.Component `json:"components"`
	// Findings are by their ids, KEPs the titles of KEPs and areas, and Classes what classes
	// of findings are called.
	Findings map[string]shownFinding  `json:"findings"`
	KEPs     map[string]string        `json:"keps"`
	Classes  map[reports.Class]string `json:"classes"`
	// ScriptNote says of the scripts of findings whether they were ever run.
	ScriptNote string `json:"scriptNote"`
}

// indexed is what is needed in order to find a cell.
type indexed struct {
	ID  string `json:"id"`
	KEP string `json:"kep"`
	// Title is the scenario's. If unset, it is not known.
	Title   string          `json:"title,omitempty"`
	Outcome reports.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"`
	// StandIns are those of components that took part.
	StandIns []string          `json:"standIns,omitempty"`
	Axes     map[string]string `json:"axes"`
	// Reference is true for a cell of the reference, which is counted apart.
	Reference bool  `json:"reference,omitempty"`
	Again     again `json:"again"`
	// Drafts are the ids of the findings, by check, as which deviations can be reported
	// that no list has.
	Drafts map[string]string `json:"drafts,omitempty"`
	// Compared is what else is known of checks that no list has, by check.
	Compared map[string]comparison `json:"compared,omitempty"`
	// Scaled says for what time runs faster in the cell. If unset, it does for nothing, or
	// that is not known.
	Scaled string `json:"scaled,omitempty"`
	// List is the list of known deviations that a new one belongs to. If unset, the cell has
	// none, or that is not known.
	List string `json:"list,omitempty"`
	// Entries are what to add to that list, by check.
	Entries map[string]string `json:"entries,omitempty"`
	// Gone are the names of what a run leaves in a cell's directory and this one has not.
	Gone []string `json:"gone,omitempty"`
}

// requirement is a statement, with its cells as positions in the index.
type requirement struct {
	ID  string `json:"id"`
	KEP string `json:"kep"`
	wording
	Cells []int `json:"cells"`
	// Letters are the outcomes of its checks in each of the cells, which are often not
	// those of the whole cell.
	Letters string `json:"letters"`
	// Reasons are why it did not pass, by the cell's position.
	Reasons map[int]string `json:"reasons,omitempty"`
}

// happened is what a page knows of what happened in a cell.
type happened struct {
	Narration *narrate.Narration `json:"narration,omitempty"`
	// Run is the number of the run that it is the narration of, and Dir where that left
	// its files, as a path from the report's directory.
	Run int    `json:"run"`
	Dir string `json:"dir"`
	// Led is what led to what the checks found that do not hold, by check.
	Led map[string][]finding.Moment `json:"led,omitempty"`
	// Problem is why there is no narration.
	Problem string `json:"problem,omitempty"`
}

// packed is what happened in a cell, with its block.
type packed struct {
	happened

	cell  int
	block []byte
	err   error
}

// pack writes the data of a page behind its beginning, as long as it is at most
// limit bytes then. The narrations of cells that need attention come first.
func (t pageInput) pack(out *bytes.Buffer, limit int) error {
	if err := t.packReport(out); err != nil {
		return err
	}
	misfits := 0
	for p := range t.narrated() {
		if p.err != nil {
			return p.err
		}
		block, err := t.fitting(p, limit-out.Len())
		if err != nil {
			return err
		}
		if block == nil {
			// One long narration doesn't keep shorter ones out, but thousands need not be
			// made for a page that is full.
			if misfits++; misfits == maxMisfits {
				break
			}
			continue
		}
		out.Write(block)
	}
	return nil
}

// packReport writes what the page has of each run: the index, the drafts of issues, and
// the cells.
func (t pageInput) packReport(out *bytes.Buffer) error {
	drafts, err := t.issues()
	if err != nil {
		return err
	}
	values := map[string]any{"index": t.index(), "issues": drafts, "causes": t.causes()}
	names := []string{"index", "issues", "causes"}
	for i := 0; i < len(t.Report.Cells); i += chunk {
		name := fmt.Sprintf("cells-%d", i/chunk)
		names, values[name] = append(names, name), t.Report.Cells[i:min(i+chunk, len(t.Report.Cells))]
	}
	for _, name := range names {
		block, err := newBlock(name, values[name])
		if err != nil {
			return err
		}
		out.Write(block)
	}
	return nil
}

// causes are what is said of the checks of cells that need attention, by the cells' places:
// who searches finds it.
func (t pageInput) causes() map[int][]string {
	all := make(map[int][]string)
	for _, p := range t.first {
		if p.Narration == nil {
			continue
		}
		for _, check := range p.Narration.Checks {
			if check.Cause != "" {
				all[p.cell] = append(all[p.cell], check.Cause)
			}
		}
	}
	return all
}

// narrated are the narrations of all cells, those that need attention first.
func (t pageInput) narrated() iter.Seq[packed] {
	return func(yield func(packed) bool) {
		done := make(map[int]bool)
		for _, p := range t.first {
			if done[p.cell] = true; !yield(p) {
				return
			}
		}
		rest := slices.DeleteFunc(attentionFirst(t.Report.Cells), func(i int) bool { return done[i] })
		for p := range t.narrations(rest) {
			if !yield(p) {
				return
			}
		}
	}
}

// maxMisfits is how many narrations may turn out not to fit before no more are made.
const maxMisfits = 5

// narrations narrates and packs cells in an order, several at a time. Those of which
// nothing is known are left out.
func (run Run) narrations(order []int) iter.Seq[packed] {
	return func(yield func(packed) bool) {
		for batch := range slices.Chunk(order, runtime.GOMAXPROCS(0)) {
			done := make([]packed, len(batch))
			var group sync.WaitGroup
			for i, cell := range batch {
				limit := maxNarration
				if !run.Report.Cells[cell].Outcome.Expected() {
					limit = maxLong
				}
				group.Go(func() { done[i] = run.pack(cell, limit) })
			}
			group.Wait()
			for _, p := range done {
				if !p.empty() && !yield(p) {
					return
				}
			}
		}
	}
}

// pack packs what happened in a cell, with a narration of at most limit bytes as JSON.
func (run Run) pack(cell, limit int) packed {
	p := packed{happened: run.happened(run.Report.Cells[cell], limit), cell: cell}
	if !p.empty() {
		p.block, p.err = newBlock(fmt.Sprintf("narration-%d", cell), p.happened)
	}
	return p
}

// attentionFirst returns the positions of cells, the most severe outcome first.
func attentionFirst(cells []reports.Cell) []int {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cells[b].Outcome.Compare(cells[a].Outcome) })
	return order
}

func (t pageInput) index() index {
	r, drafts, comparisons, entries := t.Report, t.unlisted(), t.comparisons(), t.entries()
	x := index{Chunk: chunk, Components: r.Reproduce.Components, Releases: releaseAxes(r.Cells), Findings: knownBy(t.findings), KEPs: t.keps, Classes: make(map[reports.Class]string), ScriptNote: reports.ScriptNote}
	at := make(map[string]int)
	for i, c := range r.Cells {
		at[c.ID] = i
		x.Cells = append(x.Cells, indexed{
			ID: c.ID, KEP: c.KEP, Title: t.scenarios[c.Scenario], Outcome: c.Outcome, Reason: c.Reason, StandIns: c.StandIns, Axes: c.Axes, Reference: c.OfReference(),
			Again: t.again(c), Drafts: drafts[c.ID], Compared: comparisons[c.ID], Scaled: t.scaled[c.Scenario], List: t.lists[c.ID], Entries: entries[c.ID], Gone: t.gone(c),
		})
	}
	said := wordings(r.Requirements, t.Sentences)
	for _, q := range r.Requirements {
		n := requirement{ID: q.ID, KEP: q.KEP, wording: said[q.ID], Cells: []int{}, Reasons: make(map[int]string)}
		for _, id := range q.Cells {
			n.add(at[id], r.Cells[at[id]])
		}
		x.Requirements = append(x.Requirements, n)
	}
	x.Outcomes = legend()
	for _, class := range reports.Classes() {
		x.Classes[class] = class.Word()
	}
	return x
}

// gone are the files that are not in a cell's directory. If it is not known where
// that is, there are none.
func (run Run) gone(c reports.Cell) (names []string) {
	if run.Dir == nil {
		return nil
	}
	dir := c.WorstRun().Dir
	for _, name := range []string{reports.PlanFile, reports.HistoryFile, reports.LogsDir} {
		if _, err := fs.Stat(run.Dir, path.Join(dir, name)); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// Incomplete are the ids of cells that ran, and whose files are not all in the report's
// directory: the page lacks what those would show.
func (run Run) Incomplete() (ids []string) {
	for _, c := range run.Report.Cells {
		if !c.Unfinished && len(run.gone(c)) > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// add adds a cell that serves the requirement, with what it says of it.
func (q *requirement) add(at int, c reports.Cell) {
	o, _ := reports.RequirementOutcome(q.ID, []reports.Cell{c})
	q.Cells = append(q.Cells, at)
	q.Letters += looks[o].letter
	if o != reports.Pass {
		q.Reasons[at] = reports.Truncate(reasonFor(q.ID, o, c), maxRowReason)
	}
}

// reasonFor is what the first check of a requirement with an outcome says; if there is
// none, why the whole cell was not judged.
func reasonFor(id string, o reports.Outcome, c reports.Cell) string {
	for _, check := range c.Checks {
		if check.Requirement == id && check.Outcome == o {
			return reports.ReasonOf(check)
		}
	}
	return c.Reason
}

func (h happened) empty() bool { return h.Narration == nil && h.Problem == "" }

func (run Run) happened(c reports.Cell, limit int) (h happened) {
	ran := c.WorstRun()
	h.Run, h.Dir = ran.Number, ran.Dir
	if run.Narration == nil {
		return h
	}
	n, err := run.Narration(c, ran, limit)
	if err != nil {
		h.Problem = err.Error()
	}
	h.Narration, h.Led = n, ledIn(n, ran)
	return h
}

// ledIn is what led to what the checks of a run found that do not hold.
func ledIn(n *narrate.Narration, ran reports.Run) map[string][]finding.Moment {
	all := make(map[string][]finding.Moment)
	for _, check := range ran.Checks {
		if held := check.Outcome == reports.Pass || check.Outcome == reports.NotApplicable; n != nil && !held {
			all[check.ID] = finding.Led(n, check)
		}
	}
	return all
}

// How long the narration of a cell may be, as JSON and in bytes: one that needs
// attention may be long, and one that does not fit is made again, and short.
const (
	maxNarration = 128 << 10
	maxLong      = 1 << 20
	maxShort     = 16 << 10
)

// maxBlock is how long a single narration may be in the page, in bytes, so that a few
// long ones leave room for others.
const maxBlock = 600_000

// fitting returns a block of at most limit bytes: the whole, or a shorter narration.
// It is nil if nothing is short enough.
func (run Run) fitting(p packed, limit int) ([]byte, error) {
	limit = min(limit, maxBlock)
	if len(p.block) > limit && p.Narration != nil {
		p = run.pack(p.cell, maxShort)
	}
	if len(p.block) > limit {
		return nil, p.err
	}
	return p.block, p.err
}

// newBlock is a value as compressed JSON in an element that browsers leave alone.
// No character of base64 means anything in HTML.
func newBlock(id string, value any) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<script type=\"application/octet-stream\" id=%q>", "data-"+id)
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	compressor := gzip.NewWriter(encoder)
	if err := json.NewEncoder(compressor).Encode(value); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	if err := errors.Join(compressor.Close(), encoder.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	out.WriteString("</script>\n")
	return out.Bytes(), nil
}
