package evidence

import (
	"cmp"
	"slices"
)

// Cover returns few cells that together serve statements, and the statements that
// none serves.
func Cover(planned []Planned, statements []string) (cells, nowhere []string) {
	open := slices.Clone(statements)
	serves := func(p Planned) (n int) {
		for _, id := range open {
			if slices.Contains(p.Requirements, id) {
				n++
			}
		}
		return n
	}
	for len(open) > 0 && len(planned) > 0 {
		best := slices.MaxFunc(planned, func(a, b Planned) int { return cmp.Compare(serves(a), serves(b)) })
		if serves(best) == 0 {
			break
		}
		cells = append(cells, best.ID)
		open = slices.DeleteFunc(open, func(id string) bool { return slices.Contains(best.Requirements, id) })
	}
	return cells, open
}
