package mask

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// errNotMessage is why a field can't be entered.
var errNotMessage = errors.New("not a message")

// Filter appends to dst what the mask keeps of a pod, which is as Pod.Marshal
// made it, and returns the extended dst. Fields that are kept whole are copied
// as they are, and a mask of everything copies all of it. If the bytes are not
// those of a pod as far as the mask looks into them, the error says where, and
// dst is returned as it was.
func (m Mask) Filter(dst, pod []byte) ([]byte, error) {
	if m.All() {
		return append(dst, pod...), nil
	}
	filtered, err := m.root.filter(dst, pod)
	if err != nil {
		return dst, fmt.Errorf("filtering a pod: %w", err)
	}
	return filtered, nil
}

func (n *node) filter(dst, in []byte) ([]byte, error) {
	for in = n.skip(in); len(in) > 0; in = n.skip(in) {
		number, typ, tag := protowire.ConsumeTag(in)
		if tag < 0 {
			return nil, fmt.Errorf("%s: %w", n.message.name, protowire.ParseError(tag))
		}
		size := protowire.ConsumeFieldValue(number, typ, in[tag:])
		if size < 0 {
			return nil, fmt.Errorf("%s, field %d: %w", n.message.name, number, protowire.ParseError(size))
		}
		switch kept := n.child(number); {
		case kept == nil:
		case kept == whole:
			dst = append(dst, in[:tag+size]...)
		case typ != protowire.BytesType:
			return nil, fmt.Errorf("%s, field %d: %w", n.message.name, number, errNotMessage)
		default:
			body, _ := protowire.ConsumeBytes(in[tag:])
			var err error
			if dst, err = kept.enter(append(dst, in[:tag]...), body); err != nil {
				return nil, err
			}
		}
		in = in[tag+size:]
	}
	return dst, nil
}

// skip skips fields that are not kept. It is a short cut: most fields are not
// kept, so skipping them is what a filter costs, and most have a tag and a length,
// or a value, of one or two bytes. It stops at any other, which may be wrong.
func (n *node) skip(in []byte) []byte {
	for {
		tag, width := short(in)
		number, typ := protowire.Number(tag>>3), protowire.Type(tag&7)
		if number == 0 || n.child(number) != nil {
			return in
		}
		value, more := short(in[width:])
		end := width + more
		switch {
		case more == 0 || typ != protowire.BytesType && typ != protowire.VarintType:
			return in
		case typ == protowire.BytesType:
			end += value
		}
		if end > len(in) {
			return in
		}
		in = in[end:]
	}
}

// short reads a varint of one or two bytes. Of any other, the width is 0.
func short(in []byte) (value, width int) {
	switch {
	case len(in) > 0 && in[0] < 0x80:
		return int(in[0]), 1
	case len(in) > 1 && in[1] < 0x80:
		return int(in[0]&0x7f) | int(in[1])<<7, 2
	default:
		return 0, 0
	}
}

// enter appends a message with its length, which is not known before: there is
// room for the length that it would have whole, and what is left is closed up.
func (n *node) enter(dst, body []byte) ([]byte, error) {
	var room [10]byte
	width := protowire.SizeVarint(uint64(len(body)))
	start := len(dst)
	dst, err := n.filter(append(dst, room[:width]...), body)
	if err != nil {
		return nil, err
	}
	kept := dst[start+width:]
	length := protowire.AppendVarint(dst[:start], uint64(len(kept))) // Never longer than the room.
	return append(length, kept...), nil
}
