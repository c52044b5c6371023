package model

// Created returns what an API server stores of a field when an object is
// created with it. Where it has the gate on, it fills in the default.
func (r Rules) Created(f Field, apiserver Component, asked Values, fills Places) Values {
	if r.Enabled(apiserver, f) {
		return f.filled(fills, asked)
	}
	return nil
}

// Updated returns what an API server stores when an object is written again: an
// object that uses the field may go on using it while the gate is off. A server
// that does not know the field loses it with any write, be it of the status.
func (r Rules) Updated(f Field, apiserver Component, before, asked Values, fills Places) Values {
	switch {
	case !r.Knows(apiserver, f):
		return nil
	case r.Enabled(apiserver, f):
		return f.filled(fills, asked)
	case len(before) > 0:
		return asked
	default:
		return nil
	}
}

// Shown returns what an API server shows of what is stored. Where it has the gate on,
// it fills in the default of what it reads, too.
func (r Rules) Shown(f Field, apiserver Component, stored Values, fills Places) Values {
	switch {
	case !r.Knows(apiserver, f):
		return nil
	case r.Enabled(apiserver, f):
		return f.filled(fills, stored)
	default:
		return stored
	}
}
