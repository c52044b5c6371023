package model

// Created returns what an API server stores of a field when an object is
// created with it.
func (r Rules) Created(f Field, apiserver Component, asked Values) Values {
	if r.Enabled(apiserver, f) {
		return asked
	}
	return nil
}

// Updated returns what an API server stores when an object is written again: an
// object that uses the field may go on using it while the gate is off. A server
// that does not know the field loses it with any write, be it of the status.
func (r Rules) Updated(f Field, apiserver Component, before, asked Values) Values {
	switch {
	case !r.Knows(apiserver, f):
		return nil
	case r.Enabled(apiserver, f) || len(before) > 0:
		return asked
	default:
		return nil
	}
}

// Shown returns what an API server shows of what is stored.
func (r Rules) Shown(f Field, apiserver Component, stored Values) Values {
	if r.Knows(apiserver, f) {
		return stored
	}
	return nil
}
