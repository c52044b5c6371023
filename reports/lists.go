package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Counted returns a number with what it counts, in the plural if it is not one:
// "1 cell", "2 cells".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Few names some of many: the first ones, and how many more there are.
func Few(names []string, shown int) string {
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Grouped returns the items of each key, in the order in which the keys first occur.
func Grouped[T any, K comparable](items []T, key func(T) K) (groups [][]T) {
	at := make(map[K]int)
	for _, item := range items {
		i, known := at[key(item)]
		if !known {
			i = len(groups)
			at[key(item)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], item)
	}
	return groups
}

// Each returns what a function makes of each item.
func Each[T, V any](items []T, of func(T) V) (all []V) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// Only returns the items for which a function is true.
func Only[T any](items []T, is func(T) bool) (some []T) {
	for _, item := range items {
		if is(item) {
			some = append(some, item)
		}
	}
	return some
}

// dedupe leaves out repetitions; the first item of each value stays.
func dedupe[T comparable](list []T) []T {
	seen := make(map[T]bool)
	return slices.DeleteFunc(list, func(v T) bool {
		before := seen[v]
		seen[v] = true
		return before
	})
}

// Truncate returns at most so many runes of a text, and says by "…" that there were more.
func Truncate(text string, limit int) string {
	n := 0
	for at := range text {
		if n == limit {
			return text[:at] + "…"
		}
		n++
	}
	return text
}
