package plot

import (
	"fmt"
	"math"
)

// moments are when steps began.
func moments(steps []Step) (all []float64) {
	for _, s := range steps {
		all = append(all, s.At)
	}
	return all
}

// steps draws a box for each step, with its name in it, and lists them below.
func (d *drawing) steps(steps []Step) {
	if len(steps) == 0 {
		return
	}
	d.text("bold", margin, d.y+13, left-margin, "steps")
	for _, group := range d.groups(steps) {
		d.box(steps[group.first:group.next], d.until(steps, group.next))
	}
	d.y += row + 10
	d.list(steps)
}

// group is steps that share a box.
type group struct{ first, next int }

// groups has steps that are too short for their names share a box with the next,
// or with those before it if there is no next one.
func (d *drawing) groups(steps []Step) (all []group) {
	fits := func(g group) bool {
		return d.until(steps, g.next)-d.x.place(steps[g.first].At) >= width(boxed(steps[g.first:g.next]))+4
	}
	open := group{}
	for open.next < len(steps) {
		open.next++
		if fits(open) {
			all = append(all, open)
			open.first = open.next
		}
	}
	if open.first < open.next && len(all) > 0 {
		open.first = all[len(all)-1].first
		all = all[:len(all)-1]
	}
	if open.first < open.next {
		all = append(all, open)
	}
	return all
}

// until is where a step that comes before another one ends.
func (d *drawing) until(steps []Step, next int) float64 {
	if next == len(steps) {
		return d.x.end
	}
	return d.x.place(steps[next].At)
}

func (d *drawing) box(steps []Step, to float64) {
	from := d.x.place(steps[0].At)
	d.rect("box", from, d.y, to-from, row-2).titled(steps[0].Text)
	d.text("middle", (from+to)/2, d.y+13, max(to-from, width(boxed(steps))), boxed(steps))
}

func boxed(steps []Step) string {
	if len(steps) == 1 {
		return clean(steps[0].Name)
	}
	return clean(steps[0].Name + "–" + steps[len(steps)-1].Name)
}

// listed is how many steps are listed at the most.
const listed = 40

// list says in two columns what each step did, and when.
func (d *drawing) list(steps []Step) {
	rows := math.Ceil(float64(min(len(steps), listed)) / 2)
	half := (wide - 2*margin) / 2
	for i, s := range steps[:min(len(steps), listed)] {
		x := margin + half*math.Floor(float64(i)/rows)
		y := d.y + 10 + line*math.Mod(float64(i), rows)
		d.text("end bold", x+20, y, 24, s.Name)
		d.text("end faint", x+66, y, 46, fmt.Sprintf("%.1f", s.At))
		d.text("plain", x+74, y, half-78, s.Text)
	}
	d.y += line * rows
	if more := len(steps) - listed; more > 0 {
		d.text("faint", margin, d.y+10, wide-margin, fmt.Sprintf("and %d more", more))
		d.y += line
	}
}
