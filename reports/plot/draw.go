package plot

import (
	"strconv"
	"strings"
)

// The picture from left to right: names, numbers, what happened.
const (
	wide   = 900.
	margin = 12.
	left   = 196. // where the axis of time begins
	right  = wide - margin
	names  = left - 30 // where numbers need room
	line   = 15.       // from one line of text to the next
	gap    = 14.       // between panels
)

// drawing is a picture that grows downwards.
type drawing struct {
	*element
	behind *element // what is behind the panels
	x      axis
	y      float64 // as far as it is drawn
}

// draw draws a picture.
func draw(p Picture) *element {
	if !(p.To > p.From) {
		p.To = p.From + 1
	}
	root := newElement("svg", "xmlns", "http://www.w3.org/2000/svg", "role", "img", "aria-labelledby", "title desc")
	root.add(newElement("title", "id", "title")).Text = fitting(p.Title, spoken)
	root.add(newElement("desc", "id", "desc")).Text = fitting(p.Description, spoken)
	root.add(newElement("style")).Text = strings.ReplaceAll(style, "\n", " ")
	paper := root.add(newElement("rect", "class", "paper", "width", "100%", "height", "100%"))
	paper.Attrs = append(paper.Attrs, newElement("", "rx", "6").Attrs...)

	d := &drawing{element: root, behind: root.group("behind"), x: axis{from: p.From, to: p.To, begin: left, end: right}}
	d.head(p)
	top := d.y
	for _, panel := range p.Panels {
		d.panel(panel)
	}
	d.y -= gap
	d.shade(p.Shades, top, d.y)
	d.time(p.Axis, p.Steps, top)
	d.steps(p.Steps)

	high := num(d.y + margin)
	root.Attrs = append(root.Attrs, newElement("", "width", num(wide), "height", high, "viewBox", "0 0 "+num(wide)+" "+high).Attrs...)
	return root
}

func (d *drawing) head(p Picture) {
	d.text("big", margin, 24, wide*0.8, p.Title)
	d.text("faint", margin, 41, wide-2*margin, p.Subtitle)
	d.y = 56
}

func (d *drawing) panel(p Panel) {
	if len(p.Lanes) > 0 {
		d.lanes(p)
	} else {
		d.graph(p)
	}
	d.y += gap
}

// shade shades spans through all panels.
func (d *drawing) shade(spans []Span, top, bottom float64) {
	for _, s := range spans {
		from, to := d.x.place(s.From), d.x.place(s.To)
		d.behind.rect("shade "+string(s.Look), from, top, max(to-from, 1), bottom-top)
	}
}

// time draws the axis of time below all panels, and where each step begins
// behind them.
func (d *drawing) time(label string, steps []Step, top float64) {
	for _, s := range inColumns(moments(steps), d.x) {
		d.behind.line("step", d.x.place(s), top, d.x.place(s), d.y)
	}
	for _, t := range d.x.ticks(10, 1e-3) {
		x := d.x.place(t)
		d.line("tick", x, d.y, x, d.y+4)
		d.text("middle", x, d.y+line, left, strconv.FormatFloat(t, 'g', 6, 64))
	}
	d.text("end faint", names+8, d.y+line, names, label)
	d.y += line + 8
}

// style has no quotes, which would be escaped.
const style = `.paper { fill: #fff; stroke: #d0d7de }
text { font: 11px system-ui, -apple-system, Segoe UI, DejaVu Sans, Helvetica, Arial, sans-serif; fill: #1f2328 }
text.big { font-size: 16px; font-weight: 600 }
text.bold { font-weight: 600 }
text.faint { fill: #59636e }
text.middle { text-anchor: middle }
text.end { text-anchor: end }
text.halo { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round }
text.limit { fill: #a40e26; font-weight: 600 }
path { fill: none; stroke-linejoin: round }
.frame { stroke: #8c959f }
.grid { stroke: #e4e8ec }
.tick { stroke: #59636e }
.step { stroke: #8c959f; stroke-width: .6; stroke-dasharray: 1 3 }
.lane { stroke: #e4e8ec }
.box { fill: #eef1f4; stroke: #8c959f; stroke-width: .6 }
.limit { stroke: #a40e26; stroke-width: 1.2; stroke-dasharray: 7 4 }
.solid { stroke-width: 1.7 }
.dashed { stroke-width: 1.3; stroke-dasharray: 5 3 }
.dotted { stroke-width: 1.4; stroke-dasharray: 1.5 2.5 }
.color0 { stroke: #0072b2 } .color1 { stroke: #009e73 } .color2 { stroke: #cc5fa0 }
.color3 { stroke: #b07800 } .color4 { stroke: #d55e00 } .color5 { stroke: #2f9bd8 }
.value { stroke: #0072b2; stroke-width: 1.7 }
.area { fill: #0072b2; fill-opacity: .14 }
.shade { fill: #57606a; fill-opacity: .09 } .shade.bad { fill: #d55e00 } .shade.doubt { fill: #e69f00 }
.bar { fill: #d8dde2; stroke: #57606a; stroke-width: .8 } .bar.bad { fill: #f8d3bf; stroke: #d55e00 }
.bar.doubt { fill: #fbe6b8; stroke: #b07800 } .bar.good { fill: #c5e8dc; stroke: #009e73 }
.mark { stroke: #57606a; stroke-width: 1.8; stroke-linecap: round } .mark.good { stroke: #007a59; stroke-width: 6 } .mark.bad { stroke: #c4320a } .mark.doubt { stroke: #b07800; fill: #fbe6b8 }
.stem { stroke: #57606a; stroke-width: 1.6 } .stem.good { stroke: #007a59 } .stem.bad { stroke: #c4320a } .stem.doubt { stroke: #b07800 }`
