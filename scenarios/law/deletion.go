package law

import "slices"

// Stays is the breach of a deleted object that is still there.
const Stays = "it is not gone"

var goes = Law{
	Breach:    Stays,
	Statement: "A deleted object goes, and what it owns with it.",
	Source:    conventions + ", Verbs on Resources",
	about:     func(_ *Course, o Object) bool { return o.asks(Deletes) },
	breach: func(c *Course, o Object) string {
		there := make(map[string]bool)
		for _, v := range c.family(o).versions {
			there[v.Key] = !v.Gone() && !slices.Contains(c.Unserved, v.Resource)
		}
		for _, v := range c.family(o).versions {
			if there[v.Key] {
				return v.Key + " is there at the end"
			}
		}
		return ""
	},
	check: func(o Object, _ bool) Check {
		return Check{ID: "gone", Observe: "!(" + o.exists() + ")", Is: true, Eventually: "30s"}
	},
}
