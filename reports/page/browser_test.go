// Package page_test opens the page of a run in a real browser and does there what a
// person would.
package page_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/skewrig/skewrig/reports/page"
)

// patience bounds what a browser does at once. It is not how long anything may
// take: the tests wait on conditions.
const patience = 60 * time.Second

// wanted says whether tests in a browser run: it is empty for tests of the Go code
// only, and "required" where a test that cannot run has to fail.
var wanted = os.Getenv("SKEWRIG_BROWSER_TESTS")

// unavailable skips a test that needs what this machine lacks, or fails it where
// the machine was made for these tests.
func unavailable(t testing.TB, why string) {
	t.Helper()
	if wanted == "required" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func findBrowser(t testing.TB) string {
	t.Helper()
	if wanted == "" {
		t.Skip("make page runs the tests in a browser")
	}
	for _, name := range []string{os.Getenv("SKEWRIG_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	unavailable(t, "no chromium here: apt-get install chromium, or set SKEWRIG_BROWSER")
	return ""
}

// tab is a browser of its own with one page in it.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the browser complained about
	loaded   []string // what it loaded
}

// newTab starts a browser whose window has a width, in CSS pixels.
func newTab(t testing.TB, width int64) *tab {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &tab{TB: t, ctx: ctx}
	// The first call starts the browser, which lives as long as its context.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	// Cleanups run backwards: the browser ends before its directory is removed.
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := chromedp.Cancel(ctx); err != nil {
			t.Log("ending the browser:", err)
		}
	})
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	b.do(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, 900))
	return b
}

// command is a command of the browser's protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (b *tab) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		said := "console." + string(e.Type)
		for _, arg := range e.Args {
			said += " " + string(arg.Value) + arg.Description
		}
		b.problems = append(b.problems, said)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		b.problems = append(b.problems, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		b.loaded = append(b.loaded, e.Request.URL)
	}
}

// do acts, and fails the test if that fails.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

func get[T any](b *tab, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// open opens a page, at a place in it, and waits until it shows that.
func (b *tab) open(file, hash string) {
	b.Helper()
	address := url.URL{Scheme: "file", Path: file}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address.String()+hash))
	b.at(hash)
}

// at waits until the page shows a place, and the browser has drawn it: before that, what has
// content-visibility: auto has no text.
func (b *tab) at(hash string) {
	b.Helper()
	if hash == "" {
		hash = "#"
	}
	b.until(fmt.Sprintf("document.documentElement.dataset.shown === %q", hash))
	get(b, chromedp.Evaluate[bool]("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))", chromedp.EvalAwaitPromise))
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience)))
		if err == nil {
			return
		}
		// A page that is only now being opened takes the place of another one, with
		// which the question gets lost.
		if ctx.Err() == nil && strings.Contains(err.Error(), "Cannot find context") {
			continue
		}
		where := eval[string](b, "location.hash + ', showing ' + document.documentElement.dataset.shown")
		b.Fatalf("waiting until %s, at %s: %v\n%s", expression, where, err, strings.Join(b.problems, "\n"))
	}
}

func eval[T any](b *tab, expression string) T {
	b.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// text is what an element shows.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, "document.querySelector("+strconv.Quote(selector)+")?.innerText ?? 'there is no such element'")
}

// texts are what elements show that can be seen.
func (b *tab) texts(selector string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility()).map((e) => e.textContent)", selector))
}

func (b *tab) has(selector, want string) {
	b.Helper()
	if got := b.text(selector); !strings.Contains(got, want) {
		b.Errorf("%s shows %q, want %q in it", selector, got, want)
	}
}

// click clicks on an element once it stays where it is: a timeline is drawn again when
// its width is known, and what is below it moves.
func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)))
	b.until(fmt.Sprintf(`(() => {
		const at = JSON.stringify(document.querySelector(%q)?.getBoundingClientRect());
		const still = at !== undefined && window.clickedAt === at;
		window.clickedAt = at;
		return still;
	})()`, selector))
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// press presses keys one after the other, wherever the focus is.
func (b *tab) press(keys ...string) {
	b.Helper()
	for _, name := range keys {
		key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: name, WindowsVirtualKeyCode: codes[name]}
		if codes[name] == 0 {
			key.Text = name
		}
		if name == enter {
			key.Text = "\r"
		}
		b.do(command(input.DispatchKeyEvent, key))
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		b.do(command(input.DispatchKeyEvent, key))
	}
}

const (
	enter  = "Enter"
	escape = "Escape"
	right  = "ArrowRight"
	down   = "ArrowDown"
)

// codes are those of keys that are no characters.
var codes = map[string]int64{enter: 13, escape: 27, right: 39, down: 40}

// theme has the system be dark or light.
func (b *tab) theme(name string) {
	b.Helper()
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}))
}

// shot keeps a picture of the whole page.
func (b *tab) shot(name string) {
	b.Helper()
	keep(b, name+".png", get(b, chromedp.FullScreenshot(100)))
}

// keep writes an artifact into the directory that SKEWRIG_PAGE_ARTIFACTS names, or
// into one of the test's own.
func keep(t testing.TB, name string, content []byte) {
	t.Helper()
	dir := os.Getenv("SKEWRIG_PAGE_ARTIFACTS")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "skewrig-page")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// quiet fails if the browser complained about anything, or loaded anything but the
// page and what is in it.
func (b *tab) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.Errorf("the browser said: %s", problem)
	}
	for _, address := range b.loaded {
		if !strings.HasPrefix(address, "file://") && !strings.HasPrefix(address, "data:") && address != "about:blank" {
			b.Errorf("the page loaded %s", address)
		}
	}
}

// written writes the page of a run into a file of the test's own.
func written(t testing.TB, run page.Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, run); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), page.Name)
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
