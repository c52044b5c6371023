package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports/plot"
)

func svg(t *testing.T, p plot.Picture) string {
	t.Helper()
	var out bytes.Buffer
	if err := plot.SVG(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// everything is a picture that has one of each.
func everything() plot.Picture {
	outage := plot.Span{From: 20, To: 50, Label: "cut", Look: plot.Bad}
	return plot.Picture{
		Title: "All that there is", Subtitle: "a/b/c", Description: "One of each.", From: 10, To: 70, Axis: "seconds",
		Shades: []plot.Span{outage},
		Panels: []plot.Panel{
			{Title: "what was wrong", Lanes: []plot.Lane{
				{Name: "zone-a", Bars: []plot.Span{outage, {From: 51, To: 51.2, Label: "stopped", Look: plot.Gone}}},
				{Name: "clock", Bars: []plot.Span{{From: 68, To: 70, Label: "two minutes behind", Look: plot.Doubt}}},
				{Name: "no room", Bars: []plot.Span{{From: 10, To: 30, Label: strings.Repeat("word ", 20), Look: plot.Good}, {From: 31, To: 70}}},
			}},
			{
				Title: "age, s",
				Lines: []plot.Line{
					{Label: "oldest", Style: plot.Solid, Points: []plot.Point{{At: 9, Value: 1}, {At: 20, Value: 2}, {At: 50, Value: 32}, {At: 52, Value: 1}}},
					{Label: "median", Style: plot.Dotted, Color: 7, Points: []plot.Point{{At: 20, Value: 1}, {At: 50, Value: 31}}},
				},
				Limits: []plot.Limit{{Label: "6 s: expired", At: 6}, {Label: "20 s: given up", At: 20}},
			},
			{Title: "nodes", Top: 20, Lines: []plot.Line{{Label: "not Ready", Style: plot.Solid, Held: true, Points: []plot.Point{{At: 1, Value: 0}, {At: 40, Value: 5}, {At: 55, Value: 0}}}}},
			{Title: "expired", Top: 100, Stems: []plot.Stems{{Label: "few", Look: plot.Good, Points: []plot.Point{{At: 15, Value: 0}}}, {Label: "many", Look: plot.Bad, Points: []plot.Point{{At: 30, Value: 90}}}}},
			{Title: "replicas", Lanes: []plot.Lane{{
				Name: "web", Steps: []plot.Point{{At: 2, Value: 2}, {At: 31, Value: 0}, {At: 49.99, Value: 1}, {At: 50, Value: 2}, {At: 69.9, Value: 0}},
				Marks: []plot.Marks{{Label: "done", Look: plot.Good, At: []float64{31, 69.9, 90}}, {Label: "refused", Look: plot.Bad, At: []float64{30}}, {Label: "late", Look: plot.Doubt, At: []float64{33}}, {Label: "off", Look: plot.Gone, At: []float64{36}}},
			}}},
		},
		Steps: []plot.Step{{At: 12, Name: "1", Text: "wait"}, {At: 20, Name: "2", Text: "cut"}, {At: 20, Name: "3", Text: "check"}, {At: 50, Name: "4", Text: "heal"}, {At: 69.9, Name: "5", Text: "check"}},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]plot.Picture{"everything": everything(), "nothing": {}} {
		got := svg(t, p)
		golden.Check(t, filepath.Join("testdata", name+".svg"), got)
	}
}

// nasty is a text that would do something if it were let through.
const nasty = "]]><script>alert(1)</script><image href=\"http://x/y.png\"/>\" onload=\"alert(1)\x00\x1b[31m\u202egnp\u2028&amp;\xff"

// hostile is everything, with a nasty text wherever there can be one.
func hostile() plot.Picture {
	p := everything()
	p.Title, p.Subtitle, p.Description, p.Axis, p.Shades[0].Label = nasty, nasty, nasty, nasty, nasty
	for i := range p.Steps {
		p.Steps[i].Name, p.Steps[i].Text = nasty, nasty
	}
	for _, panel := range p.Panels {
		for i := range panel.Lines {
			panel.Lines[i].Label = nasty
		}
		for i := range panel.Stems {
			panel.Stems[i].Label = nasty
		}
		for i := range panel.Limits {
			panel.Limits[i].Label = nasty
		}
		for i, l := range panel.Lanes {
			panel.Lanes[i].Name = nasty
			for j := range l.Bars {
				l.Bars[j].Label = nasty
			}
			for j := range l.Marks {
				l.Marks[j].Label = nasty + strconv.Itoa(j)
			}
		}
	}
	for i := range p.Panels {
		p.Panels[i].Title = nasty
	}
	return p
}

// TestHostileTextsAreText: whatever a text says, there are only the elements and
// attributes that draw.
func TestHostileTextsAreText(t *testing.T) {
	t.Parallel()
	got := svg(t, hostile())
	for _, r := range got {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("it contains %q", r)
		}
	}
	elements := regexp.MustCompile("^(svg|title|desc|style|g|path|rect|text)$")
	attributes := regexp.MustCompile("^(xmlns|role|aria-labelledby|id|class|d|x|y|rx|width|height|viewBox)$")
	for decoder := xml.NewDecoder(strings.NewReader(got)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, is := token.(xml.StartElement)
		if is && !elements.MatchString(start.Name.Local) {
			t.Errorf("element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			if !attributes.MatchString(a.Name.Local) || strings.Contains(a.Value, "alert") {
				t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}
}

// TestALongRunIsSmall: a day of three zones, a probe every ten seconds and a
// thousand steps.
func TestALongRunIsSmall(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60
	p := plot.Picture{To: day}
	ages, probes := plot.Panel{Limits: make([]plot.Limit, 2)}, plot.Lane{}
	stems := plot.Stems{}
	for line := range 9 {
		l := plot.Line{Label: fmt.Sprint(line)}
		for s := range day {
			l.Points = append(l.Points, plot.Point{At: float64(s), Value: math.Mod(float64(s*7919), 60)})
		}
		ages.Lines = append(ages.Lines, l)
	}
	marks := plot.Marks{Look: plot.Doubt}
	for s := 0; s < day; s += 10 {
		marks.At = append(marks.At, float64(s))
		stems.Points = append(stems.Points, plot.Point{At: float64(s), Value: float64(s % 100)})
		probes.Steps = append(probes.Steps, plot.Point{At: float64(s), Value: float64(s % 3)})
	}
	for s := range 1000 {
		p.Steps = append(p.Steps, plot.Step{At: float64(s * day / 1000), Name: fmt.Sprint(s), Text: strings.Repeat("x", 1000)})
	}
	probes.Marks = []plot.Marks{marks, marks}
	p.Panels = []plot.Panel{ages, {Lanes: []plot.Lane{probes, probes}}, {Stems: []plot.Stems{stems}}}
	got := svg(t, p)
	t.Logf("%d bytes", len(got))
	if len(got) > 200_000 {
		t.Errorf("it has %d bytes", len(got))
	}
	if !strings.Contains(got, "and 960 more") {
		t.Error("it does not say that there are more steps")
	}
}

// TestPeaksAreKept: what sticks out for a moment of a long run is still seen.
func TestPeaksAreKept(t *testing.T) {
	t.Parallel()
	const hour = 3600
	flat := plot.Line{Style: plot.Solid}
	for s := range hour {
		flat.Points = append(flat.Points, plot.Point{At: float64(s), Value: 1})
	}
	panel := plot.Panel{Top: 100, Lines: []plot.Line{flat}}
	without := svg(t, plot.Picture{To: hour, Panels: []plot.Panel{panel}})
	flat.Points[1234].Value = 50
	if with := svg(t, plot.Picture{To: hour, Panels: []plot.Panel{panel}}); with == without {
		t.Error("a peak of a second is not there")
	}
}
