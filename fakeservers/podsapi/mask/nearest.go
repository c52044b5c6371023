package mask

import "strings"

// nearest returns the field whose name is most like a name that isn't there, or
// nothing if none is like it.
func (m *message) nearest(name string) string {
	const longest = 64 // No field's name is near that, and the search takes its time.
	if len(name) > longest {
		return ""
	}
	best, distance := "", max(2, len(name)/3)+1
	for _, f := range m.fields {
		if d := edits(strings.ToLower(name), strings.ToLower(f.name)); d < distance {
			best, distance = f.name, d
		}
	}
	return best
}

// edits returns the least number of bytes to insert, delete or replace to make
// b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
