package model

import "maps"

// Fields are the values of one feature's field in an object, by the path of the
// probe that has it. A probe without the field is not among them.
type Fields map[string]string

// Same reports whether two objects have the field in the same places. HTTP1,
// which some releases fill in as a default of httpGet.protocol, is the same as
// nothing.
func (f Fields) Same(other Fields) bool {
	return maps.Equal(f.withoutDefault(), other.withoutDefault())
}

func (f Fields) withoutDefault() Fields {
	kept := make(Fields)
	for path, value := range f {
		if value != "HTTP1" {
			kept[path] = value
		}
	}
	return kept
}

// Created returns what an API server stores of the field when an object is
// created with it.
func Created(f Feature, apiserver Component, asked Fields) Fields {
	if apiserver.Enabled(f) {
		return asked
	}
	return nil
}

// Updated returns what an API server stores when an object is written again: an
// object that uses the field may go on using it while the gate is off. A server
// that does not know the field loses it with any write, be it of the status.
func Updated(f Feature, apiserver Component, before, asked Fields) Fields {
	switch {
	case !apiserver.Knows(f):
		return nil
	case apiserver.Enabled(f) || len(before) > 0:
		return asked
	default:
		return nil
	}
}

// Shown returns what an API server shows of what is stored.
func Shown(f Feature, apiserver Component, stored Fields) Fields {
	if apiserver.Knows(f) {
		return stored
	}
	return nil
}
