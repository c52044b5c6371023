package render

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// element is what a schema allows of one element.
type element struct {
	attributes map[string]string // name to a pattern of the values
	required   []string          // those of them that must be there
	children   string            // a pattern of the children's names, each with a space after it
	text       bool              // there may be text in it
}

// junitSchema reads testdata/junit.xsd. It knows of XML Schema what stands there,
// and fails on anything else, so that no rule is overlooked.
func junitSchema(t *testing.T) map[string]element {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "junit.xsd"))
	if err != nil {
		t.Fatal(err)
	}
	x := xsd{t: t, types: map[string]string{"xs:string": `(?s).*`}, complex: make(map[string]node)}
	root := parseXML(t, string(text))
	for _, n := range root.Children {
		switch n.XMLName.Local {
		case "simpleType":
			x.types[n.attribute("name")] = n.Children[0].Children[0].attribute("value")
		case "complexType":
			x.complex[n.attribute("name")] = n
		}
	}
	elements := make(map[string]element)
	for _, n := range root.named("element") {
		elements[n.attribute("name")] = x.element(n)
	}
	return elements
}

type xsd struct {
	t       *testing.T
	types   map[string]string // simple ones, as patterns
	complex map[string]node
}

func (x xsd) element(n node) element {
	e := element{attributes: make(map[string]string)}
	kind := n.attribute("type")
	if _, simple := x.types[kind]; simple {
		e.text = true
		return e
	}
	content, named := x.complex[kind]
	if !named {
		content = n.Children[0]
	}
	x.fill(&e, content.Children)
	return e
}

func (x xsd) fill(e *element, content []node) {
	for _, n := range content {
		switch n.XMLName.Local {
		case "simpleContent":
			e.text = true
			x.fill(e, n.Children[0].Children)
		case "attribute":
			pattern, known := x.types[n.attribute("type")]
			if !known {
				x.t.Errorf("a type %q is not known", n.attribute("type"))
			}
			e.attributes[n.attribute("name")] = pattern
			if n.attribute("use") == "required" {
				e.required = append(e.required, n.attribute("name"))
			}
		case "sequence", "choice":
			e.children = x.children(n)
		default:
			x.t.Errorf("xs:%s is not known here", n.XMLName.Local)
		}
	}
}

// children is a pattern of what a sequence or a choice allows.
func (x xsd) children(n node) string {
	var parts []string
	for _, child := range n.Children {
		parts = append(parts, "("+child.attribute("ref")+" )"+times(child))
	}
	separator := ""
	if n.XMLName.Local == "choice" {
		separator = "|"
	}
	return "(" + strings.Join(parts, separator) + ")" + times(n)
}

func times(n node) string {
	switch [2]string{n.attribute("minOccurs"), n.attribute("maxOccurs")} {
	case [2]string{"0", "unbounded"}:
		return "*"
	case [2]string{"0", ""}:
		return "?"
	default:
		return ""
	}
}

// violations returns where n does not keep to a schema.
func violations(schema map[string]element, n node) []string {
	name := n.XMLName.Local
	allowed, ok := schema[name]
	if !ok {
		return []string{"unknown element " + name}
	}
	var found []string
	for _, a := range n.Attributes {
		pattern, ok := allowed.attributes[a.Name.Local]
		if !ok || !regexp.MustCompile(`\A(`+pattern+`)\z`).MatchString(a.Value) {
			found = append(found, fmt.Sprintf("%s: attribute %s=%q", name, a.Name.Local, a.Value))
		}
	}
	for _, required := range allowed.required {
		if !n.has(required) {
			found = append(found, fmt.Sprintf("%s: no attribute %s", name, required))
		}
	}
	var children strings.Builder
	for _, child := range n.Children {
		children.WriteString(child.XMLName.Local + " ")
		found = append(found, violations(schema, child)...)
	}
	if !regexp.MustCompile(`\A(` + allowed.children + `)\z`).MatchString(children.String()) {
		found = append(found, fmt.Sprintf("%s: children %s", name, children.String()))
	}
	if !allowed.text && strings.TrimSpace(n.Text) != "" {
		found = append(found, fmt.Sprintf("%s: text %q", name, n.Text))
	}
	return found
}

// node is any XML element.
type node struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Children   []node     `xml:",any"`
	Text       string     `xml:",chardata"`
}

func (n node) has(attribute string) bool {
	for _, a := range n.Attributes {
		if a.Name.Local == attribute {
			return true
		}
	}
	return false
}

func (n node) attribute(name string) string {
	for _, a := range n.Attributes {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n node) named(name string) []node {
	var found []node
	for _, child := range n.Children {
		if child.XMLName.Local == name {
			found = append(found, child)
		}
	}
	return found
}

func parseXML(t *testing.T, in string) node {
	t.Helper()
	var root node
	if err := xml.NewDecoder(strings.NewReader(in)).Decode(&root); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestXMLLintAgrees has another program read the schema, and hold reports against
// it: that what is read of the schema above is what it says.
func TestXMLLintAgrees(t *testing.T) {
	t.Parallel()
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint (libxml2-utils) is not installed; the schema was checked without it")
	}
	valid := func(name, text string) (bool, string) {
		file := filepath.Join(t.TempDir(), name+".xml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// Hostile texts are long.
		out, err := exec.CommandContext(t.Context(), lint, "--huge", "--noout", "--schema", "testdata/junit.xsd", file).CombinedOutput()
		return err == nil, string(out)
	}
	for name, r := range reportsUnderTest(t) {
		if ok, why := valid(name, render(t, "xml", r)); !ok {
			t.Errorf("%s: %s", name, why)
		}
	}
	good := render(t, "xml", mixed(t, 1))
	for _, change := range mistakes {
		if ok, _ := valid("bad", strings.Replace(good, change[0], change[1], 1)); ok {
			t.Errorf("%s instead of %s is valid", change[1], change[0])
		}
	}
}
