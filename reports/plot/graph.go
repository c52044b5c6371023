package plot

import (
	"math"
	"strconv"
	"strings"
)

// colors is how many colors the style has.
const colors = 6

// graph draws values over time, and beside it what they are.
func (d *drawing) graph(p Panel) {
	keys := len(p.Lines) + len(p.Stems)
	height := max(minHeight(p), float64(keys+1)*line+4)
	y := axis{to: top(p), begin: d.y + height, end: d.y}
	d.text("bold", margin, d.y+11, names-margin, p.Title)
	d.rule(y)
	for i, l := range p.Lines {
		class := string(l.Style) + " color" + strconv.Itoa(l.Color%colors)
		d.path(class, lined(l, d.x, y))
		key := d.key(i, l.Label)
		d.line(class, margin, key, margin+18, key)
	}
	for i, s := range p.Stems {
		d.stems(s, y)
		key := d.key(len(p.Lines)+i, s.Label)
		d.path("stem "+string(s.Look), stem(margin+9, key+4, key-4))
	}
	for i, l := range p.Limits {
		d.limit(l, i, y)
	}
	d.y += height
}

// minHeight is that of a graph with little to say.
func minHeight(p Panel) float64 {
	if len(p.Limits) > 1 {
		return 180
	}
	return 80
}

// top is the highest value of a graph, with some air.
func top(p Panel) float64 {
	highest := p.Top
	for _, l := range p.Lines {
		for _, point := range l.Points {
			highest = max(highest, point.Value)
		}
	}
	for _, s := range p.Stems {
		for _, point := range s.Points {
			highest = max(highest, point.Value)
		}
	}
	air := highest * 1.08
	for _, l := range p.Limits {
		air = max(air, l.At*1.2) // its label is above it
	}
	if air <= 0 {
		return 1
	}
	return air
}

// rule draws the frame of a graph, and its numbers.
func (d *drawing) rule(y axis) {
	about := math.Round((y.begin - y.end) / 30)
	for _, v := range y.ticks(about, 1e-3) {
		d.line("grid", d.x.begin, y.place(v), d.x.end, y.place(v))
		d.text("end faint", d.x.begin-5, y.place(v)+4, left-names, strconv.FormatFloat(v, 'g', 6, 64))
	}
	d.path("frame", "M"+at(d.x.begin, y.end)+"V"+num(y.begin)+"H"+num(d.x.end))
}

// key writes what the nth color is, and returns how far down it stands.
func (d *drawing) key(n int, label string) float64 {
	y := d.y + 11 + float64(n+1)*line
	d.text("plain", margin+24, y, names-margin-24, label)
	return y - 4
}

// lined is the path of a line.
func lined(l Line, x, y axis) string {
	var b strings.Builder
	for i, p := range reduced(within(l.Points, x, l.Held), x) {
		switch {
		case i == 0:
			b.WriteString("M" + at(x.place(p.At), y.place(p.Value)))
		case l.Held:
			b.WriteString("H" + num(x.place(p.At)) + "V" + num(y.place(p.Value)))
		default:
			b.WriteString("L" + at(x.place(p.At), y.place(p.Value)))
		}
	}
	return b.String()
}

// stems draws a value of each column, the highest, with a dot on top.
func (d *drawing) stems(s Stems, y axis) {
	var b strings.Builder
	for _, group := range columns(within(s.Points, d.x, false), func(p Point) float64 { return d.x.place(p.At) }) {
		highest := group[0]
		for _, p := range group {
			if p.Value > highest.Value {
				highest = p
			}
		}
		b.WriteString(stem(d.x.place(highest.At), y.begin, y.place(highest.Value)))
	}
	d.path("stem "+string(s.Look), b.String())
}

// stem is a line with a dot at its end.
func stem(x, from, to float64) string {
	return "M" + at(x, from) + "V" + num(to) + "m-2.5,0a2.5,2.5 0 1 0 5,0a2.5,2.5 0 1 0 -5,0"
}

// limit draws a value to compare with. Labels are at the right and at the left
// by turns, because limits may be close to each other.
func (d *drawing) limit(l Limit, n int, y axis) {
	at := y.place(l.At)
	d.line("limit", d.x.begin, at, d.x.end, at)
	if n%2 == 0 {
		d.text("limit halo end", d.x.end-4, at-4, d.x.end-d.x.begin, l.Label)
	} else {
		d.text("limit halo", d.x.begin+6, at-4, d.x.end-d.x.begin, l.Label)
	}
}
