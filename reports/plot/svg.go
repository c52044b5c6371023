package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SVG writes a picture.
func SVG(w io.Writer, p Picture) error {
	encoder := xml.NewEncoder(w)
	encoder.Indent("", " ")
	if err := encoder.Encode(draw(p)); err != nil {
		return fmt.Errorf("writing a picture as SVG: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// element is an element of SVG, with either text or other elements in it.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []*element
}

// newElement returns an element with attributes, of which each is a name and a
// value.
func newElement(name string, attrs ...string) *element {
	e := &element{XMLName: xml.Name{Local: name}}
	for i := 0; i+1 < len(attrs); i += 2 {
		e.Attrs = append(e.Attrs, xml.Attr{Name: xml.Name{Local: attrs[i]}, Value: attrs[i+1]})
	}
	return e
}

// add puts an element into another one, and returns it.
func (e *element) add(child *element) *element {
	e.Children = append(e.Children, child)
	return child
}

func (e *element) group(class string) *element { return e.add(newElement("g", "class", class)) }

func (e *element) path(class, d string) {
	if d != "" {
		e.add(newElement("path", "class", class, "d", d))
	}
}

func (e *element) line(class string, x1, y1, x2, y2 float64) {
	e.path(class, "M"+at(x1, y1)+"L"+at(x2, y2))
}

func (e *element) rect(class string, x, y, width, height float64) *element {
	return e.add(newElement("rect", "class", class, "x", num(x), "y", num(y), "width", num(width), "height", num(height)))
}

// text writes a text that is at most as wide as there is room. The class says
// how big it is, and whether it begins or ends at x.
func (e *element) text(class string, x, y, room float64, s string) {
	e.add(newElement("text", "class", class, "x", num(x), "y", num(y))).Text = fitting(s, room)
}

// titled has who points at an element see a text for which there may be no room.
func (e *element) titled(s string) { e.add(newElement("title")).Text = fitting(s, pointed) }

// How much there is to read of texts that are not drawn: where one points at, and
// of the picture as a whole.
const (
	pointed = 200 * letter
	spoken  = 2000 * letter
)

// letter is about how wide a letter is, of the widest fonts that are common. What
// fonts there are is not known, and who looks at the picture has them.
const letter = 6.4

func width(s string) float64 { return letter * float64(utf8.RuneCountInString(s)) }

// fitting returns as much of a text as there is room for.
func fitting(s string, room float64) string {
	s = clean(s)
	most := max(1, int(room/letter))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// clean returns a text without what does not show as itself, such as marks that
// reverse the direction of writing.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// num writes a length, to a tenth of a pixel.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func at(x, y float64) string { return num(x) + "," + num(y) }
