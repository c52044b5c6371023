package plot

import (
	"slices"
	"strconv"
	"strings"
)

// row is how high a lane is, tall one that has values.
const (
	row  = 20.
	tall = 30.
)

// lanes draws rows, and above them what the marks in them mean.
func (d *drawing) lanes(p Panel) {
	d.text("bold", margin, d.y+11, left-margin, p.Title)
	d.meanings(p.Lanes)
	d.y += line + 2
	for _, l := range p.Lanes {
		height := row
		if len(l.Steps) > 0 {
			height = tall
		}
		d.text("plain", margin, d.y+height/2+4, left-margin-8, l.Name)
		d.line("lane", margin, d.y+height, d.x.end, d.y+height)
		d.bars(l.Bars, d.y+3, height-6)
		d.levels(l.Steps, axis{to: highest(l.Steps), begin: d.y + height, end: d.y + 12})
		for _, m := range l.Marks {
			d.marks(m, d.y+height-row/2)
		}
		d.y += height
	}
}

// meanings writes what the marks of lanes mean, each once.
func (d *drawing) meanings(lanes []Lane) {
	x := d.x.begin
	var told []Marks
	for _, l := range lanes {
		for _, m := range l.Marks {
			same := func(o Marks) bool { return o.Label == m.Label && o.Look == m.Look }
			if slices.ContainsFunc(told, same) || x > d.x.end-60 {
				continue
			}
			told = append(told, m)
			d.path("mark "+string(m.Look), mark(m.Look, x+4, d.y+7))
			d.text("faint", x+13, d.y+11, d.x.end-x-13, m.Label)
			x += 13 + width(m.Label) + 16
		}
	}
}

// bars draws spans, which don't overlap.
func (d *drawing) bars(spans []Span, y, height float64) {
	for i, s := range spans {
		before, after := d.x.begin, d.x.end
		if i > 0 {
			before = d.x.place(spans[i-1].To)
		}
		if i+1 < len(spans) {
			after = d.x.place(spans[i+1].From)
		}
		from, to := d.x.place(s.From), d.x.place(s.To)
		d.rect("bar "+string(s.Look), from, y, max(to-from, 1.5), height).titled(s.Label)
		d.label(s.Label, y+height/2+4, [...]float64{before, from, to, after})
	}
}

// label writes a label in a bar or, if it fits there and not in it, behind it or
// before it. The edges are where the bar before ends, where the bar begins and ends, and
// where the next one begins.
func (d *drawing) label(s string, y float64, edges [4]float64) {
	const few = 60 // less is not worth reading
	inside, behind, before := edges[2]-edges[1]-8, edges[3]-edges[2]-8, edges[1]-edges[0]-8
	need := width(s)
	switch {
	case inside >= need, inside > few && max(behind, before) < need:
		d.text("plain", edges[1]+4, y, inside, s)
	case behind >= need, behind > few && before < need:
		d.text("halo", edges[2]+4, y, behind, s)
	case before > few:
		d.text("halo end", edges[1]-4, y, before, s)
	}
}

func highest(points []Point) float64 {
	highest := 1.
	for _, p := range points {
		highest = max(highest, p.Value)
	}
	return highest
}

// levels draws a value that lasts until the next one.
func (d *drawing) levels(points []Point, y axis) {
	shown := reduced(within(points, d.x, true), d.x)
	if len(shown) == 0 {
		return
	}
	line := lined(Line{Points: points, Held: true}, d.x, y)
	d.path("area", line+"V"+num(y.begin)+"H"+num(d.x.place(shown[0].At))+"Z")
	d.path("value", line)
	d.values(shown, y)
}

// values writes values where they begin, if they last and there is room.
func (d *drawing) values(points []Point, y axis) {
	free := 0.
	last := len(points) - 1 // which is the end of the axis
	for i, p := range points[:last] {
		x, until := d.x.place(p.At), d.x.place(points[i+1].At)
		same := i > 0 && p.Value == points[i-1].Value
		if x < free || same || until-x < column && i+1 < last {
			continue
		}
		label := strconv.FormatFloat(p.Value, 'g', 6, 64)
		class, side := "halo", 4.
		if x+width(label)+4 > d.x.end {
			class, side = "halo end", -4
		}
		d.text(class, x+side, y.place(p.Value)-3, left, label)
		free = x + width(label) + 6
	}
}

// marks draws a mark at each moment.
func (d *drawing) marks(m Marks, y float64) {
	var b strings.Builder
	for _, moment := range inColumns(m.At, d.x) {
		b.WriteString(mark(m.Look, d.x.place(moment), y))
	}
	d.path("mark "+string(m.Look), b.String())
}

// mark is the path of a mark. Looks differ in shape, not in color alone.
func mark(l Look, x, y float64) string {
	switch l {
	case Good: // a dot: a line without length, with round ends
		return "M" + at(x, y) + "h0"
	case Doubt:
		return "M" + at(x, y-4.5) + "l4.5,8h-9z"
	case Bad:
		return "M" + at(x-3.5, y-3.5) + "l7,7m0,-7l-7,7"
	default:
		return "M" + at(x-3, y-3) + "h6v6h-6z"
	}
}
