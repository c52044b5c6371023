import {h, s, visible, counted, seconds, landOn} from './dom.js';
import {index} from './data.js';

// The timeline of a cell: the plan's steps, the windows of checks, and a lane
// for each component, container, probe and link, on one axis of time.

const ROW = 24;
const LABEL = 15; // how much higher a row is whose label stands above it
const LINE = 14; // how high a line of labels is below a row
const BELOW = 3; // so many lines of labels a row has at most
const ENOUGH = 16; // so many letters of a label say what it is
const REACH = 24; // how wide is what can be hit of an item
const GUTTER = 0.34; // of the width, labels of lanes have at most
const NARROW = 720; // below this width, labels stand above their lanes
const GRAPH = 64; // how high the lines are of a lane that has numbers

const MANY = 4; // so many pods are shown at once, and those of which something is bad

// STACKED is where the panel stands below the lanes, as in the style sheet.
const STACKED = matchMedia('(max-width: 1099px)');

const TITLES = {
  component: 'Components', container: 'Containers', probe: 'Probes', link: 'Links',
  agent: 'Agents', leases: 'Leases', object: 'Objects',
};

// acted is the last step before another one that did something.
export function acted(steps, number) {
  const before = (steps ?? []).filter((s) => s.number < number);
  return before.findLast((s) => s.acts) ?? before.at(-1);
}

// timeline returns the element. open is called with the number of an attempt that
// the reader wants to see.
export function timeline(narration, cell, open) {
  const outcomes = new Map((cell.checks ?? []).map((c) => [c.id, c.outcome]));
  const all = rowsOf(narration, outcomes);
  const folded = foldable(all, narration.about ?? []);
  let rows = all.filter((r) => !folded.has(r.pod));
  const end = Math.max(narration.seconds || 0, ...all.flatMap((r) => r.items).map((i) => i.to), 0.001);
  // The rig is started before the first step: that is folded at first.
  const ready = Math.min(narration.steps?.[0]?.from ?? 0, end * 0.95);
  let first = ready; // the earliest that is shown
  const view = {from: ready, to: end, moment: null, trigger: null};
  const at = {row: rows.findIndex((r) => r.items.length > 0), key: '', chosen: false};
  at.key = rows[at.row]?.items[0].key ?? '';

  const picture = s('svg', {class: 'lanes', role: 'group', 'aria-label': 'Timeline. Arrow keys move between events, plus and minus zoom.'});
  const said = h('div');
  const previous = h('button', {type: 'button', title: 'The one before in this lane', onclick: () => step(-1, false)}, '‹ previous');
  const next = h('button', {type: 'button', title: 'The one behind in this lane', onclick: () => step(1, false)}, 'next ›');
  const detail = h('div', {class: 'detail', role: 'status', hidden: true},
    h('div', {class: 'next'}, previous, next,
      h('button', {type: 'button', class: 'close', 'aria-label': 'Close the details', onclick: () => unchoose()}, '×')), said);
  const range = h('span', {class: 'dim range'});
  let drawn = []; // of each row, what was drawn, in time

  function draw() {
    const focused = picture.contains(document.activeElement);
    const width = Math.max(picture.parentElement?.clientWidth ?? 0, 300);
    drawn = render(picture, rows, view, width, narration.steps ?? []);
    range.textContent = `${seconds(view.from)} to ${seconds(view.to)} of ${seconds(end)}`;
    rove(focused);
  }

  // rove lets the Tab key reach one item only: the chosen one, or the one next to
  // where it was.
  function rove(focus) {
    const items = drawn[at.row] ?? [];
    const found = items.find((i) => i.keys.includes(at.key)) ?? items[0] ?? drawn.flat()[0];
    found?.element.setAttribute('tabindex', '0');
    if (at.chosen && found?.keys.includes(at.key)) found.element.classList.add('chosen');
    if (found && focus) found.element.focus({preventScroll: true});
  }

  function choose(row, item, focus = true) {
    at.row = row;
    at.key = item.keys[0];
    at.chosen = true;
    for (const other of picture.querySelectorAll('[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    for (const other of picture.querySelectorAll('.chosen')) other.classList.remove('chosen');
    item.element.setAttribute('tabindex', '0');
    item.element.classList.add('chosen');
    said.replaceChildren(...describe(rows[row], item, open));
    previous.disabled = !neighbor(-1);
    next.disabled = !neighbor(1);
    detail.hidden = false;
    element.classList.add('explains');
    if (!focus) return;
    element.classList.add('asked');
    item.element.focus({preventScroll: true});
    inSight(item.element);
  }

  function unchoose() {
    at.chosen = false;
    detail.hidden = true;
    element.classList.remove('explains', 'asked');
    draw();
    picture.querySelector('[tabindex="0"]')?.focus({preventScroll: true});
  }

  // select chooses a check, and marks the moment at which it was decided. asked is whether
  // the reader wants to see it now.
  function select(id, asked = false) {
    const row = rows.findIndex((r) => r.items.some((i) => i.check === id));
    if (row < 0) return;
    const item = rows[row].items.find((i) => i.check === id);
    Object.assign(at, {row, key: item.key});
    view.moment = item.moment;
    if (item.from < first) first = 0;
    showWindow(item);
    const shown = drawn[row].find((i) => i.keys.includes(item.key));
    choose(row, {...shown, members: [item], keys: [item.key]}, false);
    if (!asked) return;
    element.classList.add('asked');
    landOn(drawn[row].find((i) => i.keys.includes(item.key)).element);
    if (STACKED.matches) landOn(detail, 'nearest');
  }

  // inSight has an item stay in sight, and what is said of it below.
  function inSight(shown) {
    if (!STACKED.matches) return;
    detail.scrollIntoView({block: 'nearest'});
    shown.scrollIntoView({block: 'nearest'});
  }

  // showWindow shows a check from the step that led to it until it was decided.
  function showWindow(item) {
    const of = (narration.checks ?? []).find((c) => c.id === item.check);
    view.trigger = acted(narration.steps, of.step) ?? null;
    const from = Math.min(view.trigger?.from ?? item.from, item.from, of.bad ?? item.from);
    const margin = Math.max(0.5, (Math.max(view.moment, item.to) - from) / 10);
    show(from - margin, Math.min(end - first, Math.max(view.moment, item.to) - from + 2 * margin));
  }

  function zoom(factor, around) {
    const center = around ?? (view.from + view.to) / 2;
    const length = Math.min(end - first, Math.max(end / 5000, (view.to - view.from) * factor));
    show(center - (center - view.from) * (length / (view.to - view.from)), length);
  }

  // zoomOn zooms with what is chosen in the middle.
  function zoomOn(factor) {
    const around = chosenTime() ?? view.moment ?? undefined;
    if (around !== undefined) {
      view.from += around - (view.from + view.to) / 2;
      view.to = 2 * around - view.from;
    }
    zoom(factor, around);
  }

  function show(from, length) {
    view.from = Math.min(Math.max(first, from), end - length);
    view.to = view.from + length;
    draw();
  }

  function move(part) {
    const length = view.to - view.from;
    show(view.from + length * part, length);
  }

  // neighbor is the next item of the lane, or the one before; undefined if there is none.
  function neighbor(direction) {
    const items = rows[at.row]?.items ?? [];
    const now = (drawn[at.row] ?? []).find((i) => i.keys.includes(at.key));
    const keys = now ? now.keys : [at.key];
    const positions = keys.map((k) => items.findIndex((i) => i.key === k));
    return items[direction > 0 ? Math.max(...positions) + 1 : Math.min(...positions) - 1];
  }

  // step goes to another item of the lane, also to one that isn't in sight.
  function step(direction, focus = true) {
    const next = neighbor(direction);
    if (!next) return;
    if (next.to < view.from || next.from > view.to) {
      const length = view.to - view.from;
      show((next.from + next.to) / 2 - length / 2, length);
    }
    const element = drawn[at.row].find((i) => i.keys.includes(next.key));
    if (!element) return;
    choose(at.row, element, focus);
    element.element.scrollIntoView({block: 'nearest'});
  }

  // jump goes to what is nearest in time in another lane.
  function jump(direction) {
    const now = (drawn[at.row] ?? []).find((i) => i.keys.includes(at.key));
    for (let row = at.row + direction; row >= 0 && row < rows.length; row += direction) {
      const items = drawn[row];
      if (items.length === 0) continue;
      const from = now?.from ?? view.from;
      choose(row, items.reduce((best, i) => (Math.abs(i.from - from) < Math.abs(best.from - from) ? i : best)));
      return;
    }
  }

  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => jump(1), ArrowUp: () => jump(-1),
    '+': () => zoomOn(0.5), '=': () => zoomOn(0.5), '-': () => zoomOn(2), 0: () => show(first, end - first),
  };

  // chosenTime is the moment of what is chosen: of a check, when it was decided.
  function chosenTime() {
    const now = at.chosen && rows[at.row]?.items.find((i) => i.key === at.key);
    if (!now) return undefined;
    return now.moment ?? (now.from >= view.from && now.to <= view.to ? (now.from + now.to) / 2 : Math.max(now.from, view.from));
  }

  function find(target) {
    const element = target.closest?.('.it');
    if (!element) return null;
    const row = drawn.findIndex((items) => items.some((i) => i.element === element));
    return row < 0 ? null : {row, item: drawn[row].find((i) => i.element === element)};
  }

  picture.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const found = find(event.target);
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) move(event.key === 'ArrowLeft' ? -0.25 : 0.25);
    else if (event.key === 'Enter' || event.key === ' ') {
      if (!found) return;
      choose(found.row, found.item);
      if (event.key === 'Enter' && found.item.attempt) open(found.item.attempt);
    } else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  picture.addEventListener('click', (event) => {
    const found = find(event.target);
    if (found) choose(found.row, found.item);
  });
  picture.addEventListener('focusin', (event) => {
    const found = find(event.target);
    if (found && found.item.keys[0] !== at.key) choose(found.row, found.item, false);
  });
  picture.addEventListener('dblclick', (event) => zoom(0.5, timeAt(event)));
  // A wheel over a page is for the page, unless the reader is at work in here.
  picture.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey && !picture.contains(document.activeElement)) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(Math.sign(event.deltaX || event.deltaY) * 0.1);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
  }, {passive: false});
  dragged(picture, (pixels) => {
    const length = view.to - view.from;
    show(view.from - pixels / picture.clientWidth * length, length);
  });

  function timeAt(event) {
    const box = picture.getBoundingClientRect();
    const gutter = gutterOf(box.width, rows);
    const part = (event.clientX - box.left - gutter) / (box.width - gutter);
    return view.from + Math.min(1, Math.max(0, part)) * (view.to - view.from);
  }

  // fold takes the lanes of most pods away, or has them back.
  function fold(away) {
    rows = all.filter((r) => !away || !folded.has(r.pod));
    at.row = Math.max(0, rows.findIndex((r) => r.items.some((i) => i.key === at.key)));
    folding.setAttribute('aria-expanded', String(!away));
    folding.textContent = `${away ? 'Show' : 'Fold'} ${counted(folded.size, 'pod')}`;
    draw();
  }

  const folding = h('button', {type: 'button', class: 'folding', 'aria-expanded': 'false', onclick: () => fold(folding.getAttribute('aria-expanded') === 'true')},
    `Show ${counted(folded.size, 'pod')}`);

  // startUp folds what was before the first step, or has it back.
  function startUp() {
    first = first > 0 ? 0 : ready;
    starting.setAttribute('aria-expanded', String(first === 0));
    starting.textContent = `${first === 0 ? 'Fold' : 'Show'} the start-up, ${seconds(ready)}`;
    show(first, end - first);
  }

  const starting = h('button', {type: 'button', class: 'starting', 'aria-expanded': 'false', onclick: startUp}, `Show the start-up, ${seconds(ready)}`);

  function button(label, text, act) {
    return h('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
  }

  const element = h('div', {class: 'timeline'},
    h('div', {class: 'bar'},
      button('Zoom in', '+', () => zoomOn(0.5)), button('Zoom out', '−', () => zoomOn(2)),
      button('Earlier', '←', () => move(-0.25)), button('Later', '→', () => move(0.25)),
      button('All of it', 'all', () => show(first, end - first)), ready > 0 && starting, folded.size > 0 && folding, range),
    h('div', {class: 'stage'}, picture), detail, tones());
  new ResizeObserver(() => draw()).observe(element.querySelector('.stage'));
  return {element, select, show: (id) => select(id, true)};
}

function tones() {
  const shape = (tone, text) => h('li', {}, s('svg', {width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true'}, glyph(tone)), ' ', text);
  return h('ul', {class: 'tones', 'aria-label': 'What the marks mean'},
    shape('good', 'good'), shape('bad', 'bad: failed, killed, not ready'), shape('warned', 'a warning, or a failure that no red check is about'),
    shape('changed', 'a restart, or other versions or gates'), shape('faulty', 'a fault by the scenario'), shape('', 'neither'),
    h('li', {}, s('svg', {width: 14, height: 14, 'aria-hidden': 'true'}, s('line', {class: 'moment', x1: 7, x2: 7, y1: 0, y2: 14})), ' when what is chosen was decided or went wrong, and the step before'),
    h('li', {}, s('svg', {width: 14, height: 14, 'aria-hidden': 'true'}, s('rect', {class: 'band odd', width: 14, height: 14})), ' every other step'));
}

// dragged calls back with how far the reader has pulled, in pixels.
function dragged(element, callback) {
  let last = null;
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.target.closest('.it')) return;
    last = event.clientX;
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', (event) => {
    if (last === null) return;
    callback(event.clientX - last);
    last = event.clientX;
  });
  for (const name of ['pointerup', 'pointercancel']) element.addEventListener(name, () => { last = null; });
}

// rowsOf returns the rows: {title, label, items, series, limits}, where a title begins a group. An
// item is {key, from, to, label, detail, tone, outcome, attempt, mark}.
function rowsOf(narration, outcomes) {
  const rows = [{title: '', label: 'Steps', items: (narration.steps ?? []).map(stepItem)}];
  const looked = (narration.checks ?? []).map((c, i) => checkItem(c, i, outcomes.get(c.id)));
  const short = (narration.seconds || 1) / 100;
  const marks = looked.filter((c) => c.to - c.from < short).map((c) => ({...c, mark: true}));
  const windows = packed(looked.filter((c) => c.to - c.from >= short));
  [...(marks.length > 0 ? [marks] : []), ...windows].forEach((items, i) => rows.push({title: '', label: i === 0 ? 'Checks' : '', items}));
  const pods = podsOf(narration.lanes ?? []);
  let group = '';
  (narration.lanes ?? []).forEach((lane, number) => {
    const named = lane.group || (TITLES[lane.kind] ?? lane.kind);
    const title = named === group ? '' : named;
    group = named;
    const spans = (lane.spans ?? []).map((span, i) => ({...span, key: `${number}s${i}`}));
    const dots = (lane.marks ?? []).map((mark, i) => ({...mark, from: mark.at, to: mark.at, mark: true, key: `${number}m${i}`}));
    rows.push({title, label: labelOf(lane), pod: pods.has(lane.group) ? lane.group : '', series: lane.series, limits: lane.limits ?? [], items: [...spans, ...dots].sort((a, b) => a.from - b.from || a.to - b.to)});
  });
  return rows;
}

// labelOf is the name of a lane without what its group says already.
function labelOf({name, group}) {
  const of = group?.split(' on ')[0];
  if (of && name.startsWith(of + '/')) return name.slice(of.length + 1);
  return of && name.startsWith(of + '->') ? '→ ' + name.slice(of.length + 2) : name;
}

// podsOf are the groups of lanes that are each those of a pod.
function podsOf(lanes) {
  return new Set(lanes.filter((l) => l.group && (l.kind === 'container' || l.kind === 'probe' || l.name.startsWith('pods/'))).map((l) => l.group));
}

// foldable are the pods whose lanes are folded up at first: where there are many,
// those of which nothing is bad, and which no check that decided is about.
function foldable(rows, about) {
  const pods = new Set(rows.map((r) => r.pod).filter(Boolean));
  for (const row of rows) if (row.items.some((i) => i.tone === 'bad' || i.tone === 'faulty')) pods.delete(row.pod);
  for (const pod of pods) if (about.includes(pod.split(' on ')[0].split('/').at(-1))) pods.delete(pod);
  return pods.size > MANY ? pods : new Set();
}

function stepItem(step) {
  return {
    key: 'step' + step.number, number: step.number, from: step.from, to: step.to, tone: step.error ? 'bad' : '',
    label: `${step.number} ${step.action}`, step: true,
    detail: [step.error && `failed: ${step.error}`, step.name && `named ${step.name}`,
      ...(step.answers ?? []).map((a) => `${a.at ? seconds(a.at, 2) + '  ' : ''}${a.what ? a.what + ': ' : ''}${a.text}`)].filter(Boolean).join('\n'),
  };
}

function checkItem(check, i, outcome) {
  return {key: 'check' + i, check: check.id, from: check.from, to: check.to, moment: check.bad || check.to, label: check.id, outcome: outcome ?? 'unknown', detail: [check.cause, check.summary, `began in step ${check.step}`].filter(Boolean).join('\n')};
}

// packed puts windows into as few rows as keep them apart.
function packed(items) {
  const rows = [];
  for (const item of items.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const row = rows.find((r) => r.at(-1).to <= item.from);
    if (row) row.push(item);
    else rows.push([item]);
  }
  return rows;
}

// gutterOf is how wide the labels of lanes are that stand beside them. Those that are longer
// stand above, as all do on a narrow screen.
function gutterOf(width, rows) {
  if (width < NARROW) return 0;
  const widths = rows.map((row) => Math.ceil(widthOf(visible(row.label))) + 14);
  return Math.max(80, ...widths.filter((w) => w <= width * GUTTER));
}

const pen = document.createElement('canvas').getContext('2d');
pen.font = '11px system-ui, "DejaVu Sans", sans-serif'; // as in the style sheet

// widthOf is how wide a label is, in pixels.
function widthOf(text) {
  return pen.measureText(text).width;
}

// render draws the rows into the picture and returns of each row what was drawn.
function render(picture, rows, view, width, steps) {
  const gutter = gutterOf(width, rows);
  const x = (t) => gutter + (t - view.from) / (view.to - view.from) * (width - gutter - 2);
  const parts = [];
  const names = []; // of lanes, over the lines of moments
  let y = ROW;
  const drawn = rows.map((row) => {
    if (row.title) {
      names.push(s('text', {class: 'title', x: 0, y: y + 17}, visible(row.title)));
      y += ROW;
    }
    if (row.label) {
      const name = visible(row.label);
      const above = widthOf(name) > gutter - 10;
      if (above) y += LABEL;
      names.push(s('text', {class: 'lane', x: 0, y: above ? y - 2 : y + 16}, s('title', {}, name), beginning(name, above ? width : gutter - 10)));
    }
    if (row.series) {
      parts.push(graph(row, x, gutter, width, y));
      y += GRAPH;
    }
    const group = s('g', {transform: `translate(0 ${y})`});
    const items = apart(clustered(row.items.filter((i) => i.to >= view.from && i.from <= view.to), x), x, width);
    const below = []; // labels that don't fit into the row
    items.forEach((item, i) => {
      item.element = item.mark ? mark(item, x) : span(item, x, gutter, width);
      group.append(item.element, ...(item.mark ? noted(item, items, i, x, width) : labeled(item, items, i, x, gutter, width, below)));
    });
    const lines = row.label === 'Steps' ? BELOW : 1;
    below.sort((a, b) => (b.item.number === view.trigger?.number) - (a.item.number === view.trigger?.number)); // it always has its label
    const lower = under(below, lines, gutter, width);
    group.append(...lower.parts);
    parts.push(s('line', {class: 'rule', x1: gutter, x2: width, y1: y + ROW + lower.height - 0.5, y2: y + ROW + lower.height - 0.5}), group);
    y += (row.series && items.length === 0 ? 0 : ROW) + lower.height;
    return items;
  });
  picture.setAttribute('viewBox', `0 0 ${width} ${y + 4}`);
  picture.setAttribute('height', y + 4);
  const moment = [view.trigger?.from ?? null, view.moment].filter((t) => t !== null && t >= view.from && t <= view.to)
    .map((t) => s('line', {class: 'moment', x1: x(t), x2: x(t), y1: ROW, y2: y}));
  picture.replaceChildren(...bands(steps, view, x, gutter, width, y), ...axis(view, x, gutter, width, y), ...moment, ...parts, ...names);
  return drawn;
}

// graph draws the numbers of a lane as lines, and what they are held against.
function graph(row, x, gutter, width, y) {
  const highest = (line) => Math.max(0, ...line.points.map((point) => point[1]));
  const top = Math.max(...row.series.map(highest), ...row.limits.map((limit) => limit.value), 0.001);
  const at = (value) => GRAPH - 2 - value / top * (GRAPH - 18);
  const words = row.series.map((line) => `${line.label} up to ${seconds(highest(line))}`).join(', ');
  return s('svg', {class: 'graph', x: gutter, y, width: Math.max(0, width - gutter), height: GRAPH, role: 'img', 'aria-label': visible(`${row.label}: ${words}`)},
    s('text', {class: 'tick', x: 4, y: 11}, visible(words)),
    row.limits.map((limit) => [
      s('line', {class: 'limit', x1: 0, x2: width, y1: at(limit.value), y2: at(limit.value)}),
      s('text', {class: 'tick', x: width - gutter - 4, y: at(limit.value) + 11, 'text-anchor': 'end'}, visible(limit.label))]),
    row.series.map((line, i) => s('polyline', {class: `series series-${i}`, points: line.points.map(([time, value]) => `${(x(time) - gutter).toFixed(1)},${at(value).toFixed(1)}`).join(' ')})));
}

// clustered makes one of marks that would lie on each other and look the same.
function clustered(items, x) {
  const all = [];
  for (const item of items) {
    const last = all.at(-1);
    const same = last && last.mark && item.mark && x(item.from) - x(last.to) < 9 && (item.outcome || (last.tone ?? '') === (item.tone ?? ''));
    if (!same) {
      all.push({...item, keys: [item.key], members: [item]});
      continue;
    }
    last.to = item.to;
    last.keys.push(item.key);
    last.members.push(item);
    if (item.outcome && severity(item.outcome) < severity(last.outcome)) last.outcome = item.outcome;
  }
  return all;
}

// apart places marks so that each can be hit: one that looks otherwise than the one before
// it, and would lie on it, stands beside it. Where there is no room for that, they are one.
function apart(items, x, width) {
  const all = [];
  let last = null; // the mark before
  for (const item of items) {
    if (!item.mark) {
      all.push(item);
      continue;
    }
    const at = (x(item.from) + x(item.to)) / 2;
    const place = last ? Math.max(at, last.place + 12) : at;
    if (last && (place - at > 18 || place > width - 6) && place - at > 6) {
      last.to = Math.max(last.to, item.to);
      last.keys.push(...item.keys);
      last.members.push(...item.members);
      if (WORSE.indexOf(item.tone) > WORSE.indexOf(last.tone)) last.tone = item.tone;
      continue;
    }
    item.place = place;
    item.reach = Math.min(REACH / 2, last ? (place - last.place) / 2 : REACH);
    if (last) last.reach = Math.min(last.reach, item.reach);
    all.push(item);
    last = item;
  }
  return all;
}

// WORSE are tones, each worse than those before it.
const WORSE = ['good', 'changed', 'warned', 'faulty', 'bad'];

// severity is the position in the legend, the most severe first.
function severity(outcome) {
  const at = index.outcomes.findIndex((o) => o.name === outcome);
  return at < 0 ? index.outcomes.length : at;
}

function bands(steps, view, x, gutter, width, height) {
  return steps.filter((step) => step.to >= view.from && step.from <= view.to).map((step) => {
    const from = Math.max(gutter, x(step.from));
    return s('rect', {class: step.number % 2 ? 'band odd' : 'band', x: from, y: ROW, width: Math.max(0, Math.min(width, x(step.to)) - from), height: height - ROW});
  });
}

function axis(view, x, gutter, width, height) {
  const parts = [];
  const length = view.to - view.from;
  const rough = length / Math.max(2, (width - gutter) / 90);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) {
    const at = x(n * step);
    parts.push(s('line', {class: 'tick', x1: at, x2: at, y1: 18, y2: height}));
    const room = width - at < 40 ? 'end' : at - gutter < 20 ? 'start' : 'middle';
    parts.push(s('text', {class: 'tick', x: at, y: 13, 'text-anchor': room}, seconds(n * step, digits)));
  }
  return parts;
}

function interactive(item, classes, ...children) {
  return s('g', {class: 'it ' + classes, role: 'button', tabindex: -1, 'aria-label': spoken(item)}, s('title', {}, spoken(item)), children);
}

function spoken(item) {
  const time = item.to > item.from ? `${seconds(item.from, 2)} to ${seconds(item.to, 2)}` : seconds(item.from, 2);
  return visible([letterOf(item) + name(item), toneWord(item), time].filter(Boolean).join(', '));
}

function letterOf(item) {
  return item.outcome ? `${index.outcome[item.outcome]?.letter ?? '?'} ` : '';
}

function name(item) {
  return item.members?.length > 1 ? `${item.members.length} × ${item.label}${item.members.some((m) => m.label !== item.label) ? ' and others' : ''}` : item.label;
}

function toneWord(item) {
  return item.outcome ?? {good: 'good', bad: 'bad', changed: 'changed', warned: 'a warning', faulty: 'a fault by the scenario'}[item.tone];
}

// span draws what lasted.
function span(item, x, gutter, width) {
  const [from, to] = extent(item, x, gutter, width);
  const reach = Math.max(0, (REACH - (to - from)) / 2);
  return interactive(item, `span ${item.step ? 'step' : ''} ${classOf(item)}`, reach > 0 && s('rect', {class: 'reach', x: Math.max(gutter, from - reach), y: 0, width: to - from + 2 * reach, height: ROW}),
    s('rect', {x: from, y: 3, width: to - from, height: ROW - 6, rx: 3}));
}

// extent is where a span begins and ends, in pixels.
function extent(item, x, gutter, width) {
  const from = Math.max(gutter, x(item.from));
  return [from, Math.max(from + 3, Math.min(width - 1, x(item.to)))];
}

// labeled is the label of a span, where it is whole: within it and beside its marks, or
// behind it if there is room. If there is none, it goes below the row. i is the place of the
// item among those of the row.
function labeled(item, items, i, x, gutter, width, below) {
  const later = items.slice(i + 1);
  const [from, to] = extent(item, x, gutter, width);
  const words = visible(letterOf(item) + item.label);
  const need = widthOf(words) + 4;
  const label = (at, text, where) => (text ? [s('text', {class: `label ${where} ${classOf(item)}`, x: at, y: 16, 'aria-hidden': 'true'}, text)] : []);
  let start = from + 5;
  for (const m of later) {
    if (m.mark && m.from <= item.to && m.place - 9 < start + need && m.place + 9 > start) start = m.place + 10;
  }
  if (start + need <= to) return label(start, words, 'within');
  const next = later.length > 0 ? (later[0].mark ? later[0].place - 9 : x(later[0].from)) : width;
  if (to + 4 + need <= next) return label(to + 4, words, 'behind');
  const part = beginning(words, Math.min(to, next > from + 5 ? Math.max(next, start) : to) - start - 3);
  if (part.length < ENOUGH && x(item.from) >= gutter) below.push({at: from, words, item});
  return label(start, part, 'within');
}

// noted is the label of a mark, behind it, if it says something else than the one before it,
// and there is room for all of it.
function noted(item, items, i, x, width) {
  const [before, next] = [items[i - 1], items[i + 1]];
  const words = visible(name(item));
  if (item.outcome || before?.mark && name(before) === name(item)) return [];
  const from = item.place + 9;
  const until = next ? (next.mark ? next.place - 9 : x(next.from)) : width;
  const open = items.some((o) => !o.mark && o.from <= item.from && x(o.to) > from); // it lies on a span, which has a label
  return open || from + widthOf(words) + 4 > until ? [] : [s('text', {class: 'label behind ' + classOf(item), x: from, y: 16, 'aria-hidden': 'true'}, words)];
}

// under puts labels into lines below a row, each where its item is. Those for which there
// is no room stay away.
function under(labels, lines, gutter, width) {
  const ends = []; // of each line
  const parts = [];
  for (const {at, words, item} of labels) {
    const short = beginning(words, width / 3);
    const start = Math.max(gutter, Math.min(at, width - widthOf(short) - 4));
    const line = [...Array(lines).keys()].find((n) => (ends[n] ?? -Infinity) < start);
    if (line === undefined || start + widthOf(short) > width) continue;
    ends[line] = start + widthOf(short) + 8;
    parts.push(s('path', {class: 'leader', d: `M${at + 1.5},${ROW - 3}V${ROW + line * LINE + 3}`}),
      s('text', {class: `label behind ${classOf(item)}`, x: start, y: ROW + line * LINE + 10, 'aria-hidden': 'true'}, short));
  }
  return {parts, height: ends.length * LINE};
}

// beginning returns as much of the beginning of a text as fits; nothing if that is a few
// letters.
function beginning(text, room) {
  if (widthOf(text) <= room) return text;
  let n = text.length - 1;
  while (n > 3 && widthOf(text.slice(0, n) + '…') > room) n--;
  return n > 3 ? text.slice(0, n) + '…' : '';
}

function mark(item, x) {
  const many = item.members.length > 1 && x(item.to) > x(item.from)
    ? s('rect', {class: 'extent', x: x(item.from), y: ROW / 2 - 2, width: x(item.to) - x(item.from), height: 4, rx: 2}) : null;
  const letter = item.outcome
    ? [s('circle', {r: 8}), s('text', {class: 'letter', y: 4, 'text-anchor': 'middle'}, letterOf(item).trim())]
    : [s('rect', {class: 'hit', x: -item.reach, y: -REACH / 2, width: 2 * item.reach, height: REACH}), glyph(item.tone)];
  return interactive(item, 'mark ' + classOf(item), many, s('g', {transform: `translate(${item.place} ${ROW / 2})`}, letter));
}

function classOf(item) {
  return item.outcome ? 'o-' + item.outcome : 'tone-' + (item.tone || 'plain');
}

// glyph is a shape of its own for each tone, so that color is not needed.
function glyph(tone) {
  const paths = {
    good: 'M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z', bad: 'M-4,-5L0,-1L4,-5L5,-4L1,0L5,4L4,5L0,1L-4,5L-5,4L-1,0L-5,-4z',
    changed: 'M0,-6L6,0L0,6L-6,0z', warned: 'M-4,-4L4,4M4,-4L-4,4', faulty: 'M-4.5,-4.5h9v9h-9z',
  };
  return s('path', {class: 'glyph tone-' + (tone || 'plain'), d: paths[tone] ?? 'M-1.5,-5h3v10h-3z'});
}

// MOST_DESCRIBED is how many of a cluster are described one by one.
const MOST_DESCRIBED = 30;

function describe(row, item, open) {
  const lines = item.members.slice(0, MOST_DESCRIBED).map((m) => h('div', {class: 'happened'},
    h('b', {}, visible(m.label)), ' ', h('span', {class: 'dim'}, m.to > m.from ? `${seconds(m.from, 3)} to ${seconds(m.to, 3)}` : seconds(m.from, 3)),
    m.outcome && [' ', h('span', {class: 'badge o-' + m.outcome}, letterOf(m), index.outcome[m.outcome]?.word ?? m.outcome)],
    !m.outcome && toneWord(m) && h('span', {class: 'dim'}, ', ', toneWord(m)),
    m.attempt && [' ', h('button', {type: 'button', class: 'link', onclick: () => open(m.attempt)}, `attempt ${m.attempt}`)],
    m.detail && h('pre', {}, visible(m.detail))));
  if (item.members.length > MOST_DESCRIBED) lines.push(h('p', {class: 'dim'}, `and ${item.members.length - MOST_DESCRIBED} more: zoom in`));
  return [h('div', {class: 'dim'}, visible(row.label || 'Checks')), ...lines];
}
