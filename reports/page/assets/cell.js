import {h, visible, breaking, linked, counted, seconds, together, copied, cellOf, table, landOn} from './dom.js';
import {index, cellAt, happenedIn, meant} from './data.js';
import {cellHash, listHash, requirementHash} from './route.js';
import {issueButton} from './issue.js';
import {acted, timeline} from './timeline.js';
import {attempts} from './attempts.js';
import {objects} from './objects.js';

// The view of one cell.

// cellView fills the section with a cell. choices may name a check, a requirement
// or an attempt to go to.
export async function cellView(section, id, choices, siblings) {
  const i = index.at.get(id);
  if (i === undefined) {
    section.replaceChildren(h('h1', {}, 'No such cell'), h('p', {}, 'This run has no cell ', h('code', {}, visible(id)), '. ', h('a', {href: '#cells'}, 'All its cells')));
    return;
  }
  const [cell, happened] = await Promise.all([cellAt(i), happenedIn(i)]);
  const narration = happened?.narration ?? null;
  const parts = {narration, cell, happened};
  const asked = narration?.attempts?.length ? attempts(narration, `${filesOf(happened, cell)}/history.jsonl`) : null;
  const lanes = narration ? timeline(narration, cell, (n) => asked?.show(n)) : null;
  const deciding = decidingCheck(cell);
  section.replaceChildren(...[
    heading(cell, narration, siblings),
    jumps(cell),
    causes(cell, happened, lanes),
    inShort(cell, narration, deciding),
    cell.runs?.length > 0 && part('Runs', runs(cell, happened)),
    part('Checks', checks(cell, narration, lanes, choices)),
    cell.compared && part('Differences', differences(cell.compared)),
    lanes && part('Timeline', lanes.element),
    narration?.logs?.length > 0 && part('Logs around the failure', logs(parts)),
    asked && part('Probe attempts', h('p', {class: 'dim ours'}, 'The prediction is that of a model of the release, whether a KEP requires it or not. The expectations of the scenario are with the checks.'), asked.element),
    cell.observed?.length > 0 && part('Probes', observed(cell.observed)),
    narration?.objects?.length > 0 && part('Objects before and after each step', objects(narration)),
    narration?.plan && part('Plan', plan(cell, narration)),
    part('Record and logs', omitted(parts)),
  ].filter(Boolean));
  fillJumps(section, cell);
  if (deciding && !asExpected(deciding)) lanes?.select(deciding.id);
  arrive(section, choices, asked);
}

// JUMPS are the parts that the top of a cell leads to, with a word for each.
const JUMPS = {
  'part-what-happened': 'What went wrong', 'part-checks': 'Checks', 'part-differences': 'Differences', 'part-timeline': 'Timeline', 'part-logs-around-the-failure': 'Logs',
  'part-probe-attempts': 'Attempts', 'part-objects-before-and-after-each-step': 'Objects', 'part-plan': 'Plan',
};

function jumps() {
  return h('nav', {class: 'jumps', 'aria-label': 'Parts of this cell'});
}

// fillJumps links to the parts that there are.
function fillJumps(section, cell) {
  section.querySelector('.jumps').append(...Object.entries(JUMPS).filter(([id]) => section.querySelector(`#${id}`)).map(([id, text]) => h('a', {
    href: cellHash(cell.id, {part: id.slice('part-'.length)}), onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation(); // the cell stays as it is
      jumpTo(section, id);
    }}, text)));
}

// jumpTo goes to a part; in the plan, to the step that opened the check that decided.
function jumpTo(section, id) {
  const heading = section.querySelector(`#${CSS.escape(id)}`);
  if (!heading) return;
  const step = id === 'part-plan' && section.querySelector('.plan .marked');
  landOn(step || heading, step ? 'center' : 'start');
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
}

// controlLine is the line of a plan that names the scenario of the negative control, with a link to the
// cell of the control if this run has it.
function controlLine(line, scenario, cell) {
  const id = controlOf(scenario, cell);
  const at = line.indexOf(scenario);
  const [before, after] = [line.slice(0, at), line.slice(at + scenario.length)];
  return [visible(before), id ? h('a', {class: 'control', href: cellHash(id), title: visible(id)}, visible(scenario)) : visible(scenario), visible(after) + '\n'];
}

// controlOf is the cell of a scenario whose axes are most like those of another one.
function controlOf(scenario, cell) {
  const axes = Object.entries(cell.axes ?? {});
  const alike = (other) => axes.filter(([axis, value]) => other.axes[axis] === value).length;
  const all = index.cells.filter((c) => c.id === scenario || c.id.startsWith(scenario + '/') && c.id.slice(scenario.length + 1).split('/').every((part) => part.includes(':')));
  return all.reduce((best, c) => (!best || alike(c) > alike(best) ? c : best), null)?.id;
}

// plan is the plan, in which the check that decided is marked, and the step before it.
function plan(cell, narration) {
  const looked = new Map((narration.checks ?? []).map((c) => [c.id, c]));
  const decided = decidingChecks(cell).filter((c) => looked.has(c.id));
  const ids = new Set(decided.map((c) => c.id));
  const opened = new Set(decided.map((c) => looked.get(c.id).step));
  const before = new Set([...opened].map((n) => acted(narration.steps, n)?.number));
  const meanings = new Map((narration.planLines ?? []).map((l) => [l.line, l]));
  const lines = narration.plan.split('\n').map((line, i) => {
    const {step, check, control} = meanings.get(i) ?? {};
    if (control) return controlLine(line, control, cell);
    const of = !step ? '' : check ? (opened.has(step) && ids.has(check) ? 'the check' : '')
      : before.has(step) ? 'the step before the check' : opened.has(step) ? 'the step of the check' : '';
    return of ? h('mark', {class: 'marked', title: of}, visible(line) + '\n') : visible(line) + '\n';
  });
  return [decided.length > 0 && h('p', {class: 'dim'}, 'Marked: the check that decided, and the step before it.'),
    h('pre', {class: 'plan', tabindex: 0, 'aria-label': 'Plan'}, lines)];
}

function part(title, ...content) {
  const id = 'part-' + title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return h('section', {class: 'part', 'aria-labelledby': id}, h('h2', {id}, title), content);
}

// arrive goes to the target of a link into the cell.
function arrive(section, choices, asked) {
  if (choices.get('part')) jumpTo(section, 'part-' + choices.get('part'));
  const attempt = Number(choices.get('attempt'));
  if (attempt > 0) asked?.show(attempt);
  const means = askedFor(choices);
  const rows = [...section.querySelectorAll('.check-row')].filter((r) => means(r.dataset.id, r.dataset.requirement));
  for (const row of rows) {
    row.classList.add('target');
    for (const details of row.querySelectorAll('details')) details.open = true;
  }
  if (rows.length > 0) landOn(rows[0]);
}

// askedFor returns what tells whether a link into a cell is about a check: it may name
// one, or a requirement, which is about each check of it.
function askedFor(choices) {
  if (choices.has('check')) return (id) => id === choices.get('check');
  const means = meant(choices.get('requirement'));
  return (id, requirement) => means(requirement);
}

function decidingCheck(cell) {
  return (cell.checks ?? []).find((c) => c.outcome === cell.outcome);
}

// decidingChecks are the checks that do not hold: those that are new, if any are.
function decidingChecks(cell) {
  const red = (cell.checks ?? []).filter((c) => !asExpected(c));
  const fresh = red.filter(isNew);
  return fresh.length > 0 ? fresh : red;
}

// isNew reports whether a check deviates in a way that is not recorded, or was not judged.
function isNew(check) {
  return index.outcome[check.outcome]?.tone !== 'good';
}

export function badge(outcome, text = index.outcome[outcome]?.word ?? outcome) {
  const known = index.outcome[outcome];
  return h('span', {class: 'badge o-' + outcome, title: known?.meaning}, h('b', {'aria-hidden': 'true'}, known?.letter ?? '?'), ' ', text);
}

function heading(cell, narration, siblings) {
  const {title, kep, scaled} = index.cells[index.at.get(cell.id)];
  const around = h('nav', {class: 'around', 'aria-label': 'Cells around this one'},
    h('a', {href: siblings.list}, 'Back to the list'),
    siblings.previous && h('a', {href: siblings.hash(siblings.previous), title: visible(siblings.previous)}, '↑ previous'),
    siblings.next && h('a', {href: siblings.hash(siblings.next), title: visible(siblings.next)}, '↓ next'));
  const id = h('span', {class: 'id'}, breaking(cell.id));
  return h('header', {class: 'cell-head'}, around,
    h('h1', {tabindex: -1}, h('span', {class: 'ours'}, badge(cell.outcome)), ' ', title ? h('span', {}, visible(title)) : id),
    h('p', {class: 'dim'}, title && [id, ' · '], h('a', {href: listHash('cells', {kep})}, visible(kep)), index.keps[kep] && ' ' + visible(index.keps[kep]), ' · ',
      h('a', {href: cellHash(cell.id)}, 'Link to this cell')),
    scaled && h('p', {class: 'why'}, visible(sentenced(scaled)), ' To compare times on this page with those of a cluster, multiply them by as much.'),
    cell.standIns && h('p', {class: 'why'}, 'Compiled with stand-ins: ', visible(cell.standIns.join('; '))),
    // The reason of a check stands below, with the check.
    cell.reason && !(cell.checks ?? []).some((c) => cell.reason.startsWith(c.id + ': ')) && h('p', {class: 'why'}, linked(cell.reason)));
}

// AT_ONCE is how many causes are shown before the rest is folded.
const AT_ONCE = 4;

// causes says of each check that does not hold what happened, in a sentence; checks of one
// finding or of one failure have one cause. What is recorded is folded beside what is new.
function causes(cell, happened, lanes) {
  const red = (cell.checks ?? []).filter((c) => !asExpected(c));
  if (red.length === 0) return null;
  red.sort((a, b) => index.severity.get(b.outcome) - index.severity.get(a.outcome));
  const looked = new Map((happened?.narration?.checks ?? []).map((c) => [c.id, c]));
  const groups = [...Map.groupBy(red, (c) => c.finding || looked.get(c.id)?.same || c.id).values()];
  const articles = groups.map((group) => cause(cell, group, looked, lanes, happened?.led?.[group[0].id] ?? []));
  const fresh = groups.filter(([first]) => isNew(first)).length;
  const open = Math.min(fresh || articles.length, AT_ONCE);
  const folded = (some, what) => some.length > 0 && h('details', {}, h('summary', {}, what), some);
  return h('section', {class: 'part causes', 'aria-labelledby': 'part-what-happened'}, h('h2', {class: 'unseen', id: 'part-what-happened'}, 'What happened'), articles.slice(0, open),
    fresh > 0 ? [folded(articles.slice(open, fresh), `${fresh - open} more`), folded(articles.slice(fresh), `Also here, and known: ${counted(articles.length - fresh, 'deviation')}`)]
      : folded(articles.slice(open), `${articles.length - open} more`));
}

// cause is what happened in the checks of a finding, or in those that are new of one failure.
function cause(cell, group, looked, lanes, led) {
  const [first] = group;
  const found = index.findings[first.finding];
  const here = looked.get(first.id);
  const draft = first.finding || index.cells[index.at.get(cell.id)].drafts?.[first.id];
  const sentence = found?.instead ? sentenced(found.instead) : here?.cause || first.reason || [here?.summary, first.observed && `observed ${first.observed}`].filter(Boolean).join('; ');
  return h('article', {class: 'cause-of o-' + first.outcome},
    h('h2', {}, badge(first.outcome), ' ', found?.headline ? visible(found.headline) : h('span', {}, group.map((c, i) => [i > 0 && ' and ', h('span', {class: 'id'}, visible(c.id))]))),
    !found && group.length > 1 && h('p', {class: 'dim'}, `These ${group.length} checks fail for one failure.`),
    h('p', {class: 'cause'}, linked(sentence)),
    isNew(first) && !comparisonOf(cell, first).twins && atOnce(first),
    found?.instead && here?.cause && h('p', {}, h('b', {}, 'Here: '), visible(here.cause)),
    here?.because?.length > 0 && h('ul', {class: 'because-of'}, here.because.map((text) => h('li', {}, visible(text)))),
    first.outcome === 'fail' && asModelled(cell, here?.models ?? []),
    ledTo(led),
    [...new Set(group.map((c) => c.requirement))].filter((id) => index.statement.has(id)).map(said),
    fieldHistory(here),
    compared(cell, first),
    first.outcome === 'fail' && listed(cell, first),
    first.outcome === 'ambiguous' && first.reason && h('p', {}, h('b', {}, 'The other reading: '), linked(first.reason)),
    found?.effect && h('p', {}, h('b', {}, 'Effect: '), visible(sentenced(found.effect))),
    found?.class in index.classes && h('p', {class: 'tags ours'}, [index.classes[found.class], found.issue ? 'reported' : 'not reported', found.owner].filter(Boolean).map((t) => h('span', {class: 'tag' + (t === 'not reported' ? ' unreported' : '')}, visible(t))),
      found.issue && linked(found.issue), found.places?.map((p) => (p.Address ? h('a', {href: p.Address, rel: 'noreferrer'}, visible(p.Name)) : h('span', {}, visible(p.Name))))),
    h('div', {class: 'acts'}, draft && issueButton(draft),
      here && lanes && h('button', {type: 'button', onclick: () => lanes.show(first.id)}, 'Show in the timeline')),
    h('details', {class: 'values-of'}, h('summary', {}, group.length > 1 ? `${group.length} checks: expressions and values` : ['Check ', h('code', {}, visible(first.id)), ': expression and value']),
      group.map((c) => values(c, looked.get(c.id), group.length > 1))));
}

// asModelled says that a release did what one of the models says that compare what the failed check looks at.
function asModelled(cell, models) {
  const oracle = cell.checks.find((c) => c.outcome === 'pass' && models.includes(c.id));
  const text = cell.kep.startsWith('KEP-') ? `the text of ${cell.kep}` : 'the statement';
  return oracle && h('p', {class: 'as-modelled'}, h('code', {}, oracle.id), ` passes in this cell: the release behaves as the model of its code says, so ${visible(text)} may have to change, and not the release.`);
}

// ledTo is what led to a failure, in time: who reads it sees what was first.
function ledTo(led) {
  return led.length > 0 && [h('p', {}, h('b', {}, 'What happened before it, in time:')), h('ol', {class: 'led', 'aria-label': 'What happened before it'}, led.map((m) => h('li', {},
    h('span', {class: 'num'}, seconds(m.at, 3)), ' ', h('span', {}, visible(m.text)))))];
}

// atOnce is what a check expected and what it observed, each in a line.
function atOnce(check) {
  const entries = [['expected', check.expected], ['observed', check.observed]].filter(([, value]) => value);
  return entries.length > 0 && h('dl', {class: 'at-once'}, entries.map(([name, value]) => h('div', {},
    h('dt', {}, name), h('dd', {class: 'said' + (name === 'observed' ? ' observed' : ''), title: visible(value)}, visible(value).replace(/\s+/g, ' ')))));
}

// said is a requirement in our words, with where it stands, and what else the text can mean.
function said(id) {
  const {statement, text, sentence, readings = []} = index.statement.get(id);
  return [
    h('p', {}, h('b', {}, 'Requirement, in our words: '), visible(statement), ' ', h('span', {class: 'dim'}, '(', placed(text), ') ', statementLink(id))),
    sentence && h('blockquote', {}, visible(sentence)),
    readings.map((r) => h('p', {}, h('b', {}, r.either ? 'The other reading, and no release can do both: ' : 'Another reading of the same sentence: '), visible(r.statement), ' ',
      h('span', {class: 'dim'}, statementLink(r.id), `: ${r.tested ? r.word : 'not tested'}`))),
  ];
}

// placed is a place, and a link to it if it has an address.
function placed({Name, Address}) {
  return Address ? h('a', {href: Address, rel: 'noreferrer'}, visible(Name)) : visible(Name);
}

// comparisonOf is what else is known of a check.
function comparisonOf(cell, check) {
  return index.cells[index.at.get(cell.id)].compared?.[check.id] ?? {};
}

// twinsTable shows a check and those that are to be compared with it, which pass.
function twinsTable(twins) {
  const columns = ['in this cell', 'expected', 'observed'];
  return table(`${twins[0].id}, and a check that passes`, columns, h('tbody', {}, twins.map((c) => h('tr', {},
    cellOf(columns[0], c.said, ' ', h('code', {}, visible(c.id))), cellOf(columns[1], h('span', {class: 'said'}, visible(c.expected))), cellOf(columns[2], h('span', {class: 'said'}, visible(c.observed)))))));
}

// compared says which recorded deviation a check that is new is like, and where it passes; of
// an ambiguous one, on what the other reading rests.
function compared(cell, check) {
  const {like = [], holds, links = [], twins} = comparisonOf(cell, check);
  return [
    like.map((l) => h('p', {class: 'like'}, h('b', {}, l.finding ? h('a', {href: '#finding=' + encodeURIComponent(l.finding)}, visible(l.said)) : visible(l.said), '. '),
      visible(l.instead ?? ''), l.places?.map((p) => [' ', placed(p)]))),
    holds && h('p', {class: 'like'}, visible(holds), '.', links.map((id) => [' ', h('a', {href: cellHash(id)}, breaking(id))])),
    twins && twinsTable(twins),
  ];
}

// listed says in which list of known deviations a new one would be recorded, and how.
function listed(cell, check) {
  const {list, entries} = index.cells[index.at.get(cell.id)];
  return list && [h('p', {class: 'dim'}, 'If this is known, add it to the list of known deviations: ', visible(list), '.'),
    entries?.[check.id] && h('details', {class: 'entry'}, h('summary', {}, 'The entry, under ', h('code', {}, 'deviations'), ' in that file'), copied(entries[check.id], 'Entry'))];
}

// sentenced is a text with the form of a sentence. A name at its beginning stays as it is.
function sentenced(text) {
  const begun = /^[a-z]+,?\s/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return begun.replace(/\.$/, '') + '.';
}

// values are the expression of a check and what it came to.
function values(check, looked, named) {
  const entries = [];
  const add = (name, ...value) => entries.push(h('dt', {}, name), h('dd', {}, value));
  if (named) add('check', h('code', {}, visible(check.id)));
  if (check.expected) add('expected', h('span', {class: 'said'}, visible(check.expected)));
  if (check.observed) add('observed', h('span', {class: 'said observed'}, visible(check.observed)));
  if (looked?.summary) add('window', visible(looked.summary));
  if (looked?.parts?.length > 0) add('parts', h('dl', {class: 'parts', 'aria-label': 'Parts of the expression'}, looked.parts.map((p) => h('div', {},
    h('dt', {}, h('code', {}, visible(p.what)), ' is '), h('dd', {class: 'said'}, visible(p.text))))));
  if (check.reason) add('reason', linked(check.reason));
  return h('dl', {class: 'values o-' + check.outcome}, entries);
}

// history is that of the field that a check is about: each value, and who served or wrote it.
function fieldHistory(looked) {
  if (!looked?.history?.length) return null;
  const written = together(...looked.history.map((l) => l.at ?? 0));
  return [h('p', {}, h('b', {}, 'History of the field:')), h('ul', {class: 'history'}, looked.history.map((l) => h('li', {}, h('span', {class: 'num'}, written(l.at ?? 0)), ' ',
    h('code', {}, visible(l.text)), ' ', h('span', {class: 'dim'}, visible(l.what)), l.tone === 'bad' && h('b', {class: 'not'}, ' ✗ lost here'), l.tone === 'changed' && h('b', {}, ' ← changed here'))))];
}

// inShort says when it happened, on which versions, and how to reproduce it.
function inShort(cell, narration, deciding) {
  const entries = [];
  const add = (name, ...value) => entries.push(h('dt', {}, name), h('dd', {}, value));
  add('When', when(cell, narration, deciding));
  add('On', versions(cell, narration));
  const {command, note} = index.cells[index.at.get(cell.id)].again;
  add('Reproduce', copied(command), note && h('span', {class: 'dim'}, visible(note)), scripts(cell));
  return h('dl', {class: 'short o-' + cell.outcome}, entries);
}

// scripts are those that show the deviations of a cell without skewrig, one for each.
function scripts(cell) {
  const found = [...new Set((cell.checks ?? []).map((c) => c.finding))].map((id) => index.findings[id]).filter((f) => f?.script);
  return found.map((f) => h('details', {class: 'script'}, h('summary', {}, 'Reproduce without skewrig', found.length > 1 && `: ${visible(f.headline)}`),
    h('p', {class: 'dim'}, visible(index.scriptNote)), copied(f.script, 'Script')));
}

function statementLink(id) {
  return h('a', {href: requirementHash(id), title: visible(index.statement.get(id)?.statement)}, visible(id));
}

function when(cell, narration, deciding) {
  const began = narration?.began ?? cell.started;
  const text = [];
  if (began && !began.startsWith('0001')) text.push('begun ' + clock(began));
  const looked = deciding && cell.outcome !== 'pass' ? narration?.checks?.find((c) => c.id === deciding.id) : null;
  if (looked) {
    const step = narration.steps?.find((st) => st.number === looked.step);
    const written = together(looked.to, looked.from, looked.bad);
    text.push(`decided at ${written(looked.to)} after that` + (step ? `, in step ${step.number} (${step.action.length > 80 ? step.action.slice(0, 79) + '…' : step.action})` : ''));
    const left = (tone) => looked.history?.some((l) => l.tone === tone && l.at === looked.bad);
    const since = left('bad') ? 'the field was lost at' : left('changed') ? 'the field was changed at' : 'it was so since';
    if (looked.bad) text.push(`${since} ${written(looked.bad)}`);
    if (looked.to - looked.from >= 0.05) text.push(`the window began at ${written(looked.from)}`);
  }
  if (cell.durationSeconds) text.push(`the cell took ${seconds(cell.durationSeconds)}` + (narration && Math.abs(cell.durationSeconds - narration.seconds) >= 0.1 ? `, of which its record has ${seconds(narration.seconds)}` : ''));
  return text.length > 0 ? visible(text.join(', ')) : 'the cell did not start';
}

function clock(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toISOString().replace('T', ' ').replace(/(\.\d)\d*Z$/, '$1 UTC');
}

// versions are those that ran, in their order, as the components said of
// themselves; where nothing was recorded, those that the cell's id names.
function versions(cell, narration) {
  const ran = (narration?.lanes ?? []).filter((l) => l.kind === 'component' && l.spans?.length > 0).map((lane) => {
    const labels = [];
    const named = lane.spans.filter((span) => /\bv\d/.test(span.label)); // not "starting", nor "stopped"
    for (const span of named.length > 0 ? named : lane.spans) if (span.label !== labels.at(-1)) labels.push(span.label);
    return h('li', {}, h('b', {}, visible(lane.name)), ' ', visible(labels.join(', then ')));
  });
  if (ran.length > 0) return h('ul', {class: 'versions'}, ran);
  const axes = Object.entries(cell.axes ?? {}).map(([axis, value]) => h('li', {}, h('b', {}, visible(axis)), ' ', visible(value)));
  return h('ul', {class: 'versions'}, axes.length > 0 ? axes : h('li', {}, 'components of the run: ', index.components.map((c) => `${c.name} ${c.version}`).join(', ')));
}

// runs are those of a cell that ran several times.
function runs(cell, happened) {
  const columns = ['run', 'outcome', 'reason', 'begun', 'took', 'files'];
  const {rate, differs} = cell;
  return [
    rate && h('p', {}, h('b', {}, `${rate.failed} of ${counted(rate.runs, 'run')} failed`), ` (95 % interval: ${percent(rate.low)} to ${percent(rate.high)})`),
    differs && h('p', {}, 'Good and bad runs first differ ', differs.step ? visible(`at step ${differs.step} (${differs.action})`) : 'before the first step', ': ',
      differs.bad && ['only in bad runs: ', h('span', {class: 'said'}, visible(differs.bad))], differs.bad && differs.good && '; ',
      differs.good && ['only in good runs: ', h('span', {class: 'said'}, visible(differs.good))], '.'),
    happened?.narration && h('p', {class: 'dim'}, `Below is what happened in run ${happened.run}, the first of those with the worst outcome.`),
    table('Runs', columns, h('tbody', {}, cell.runs.map((r) => h('tr', {},
      cellOf('run', String(r.number)), cellOf('outcome', badge(r.outcome)), cellOf('reason', linked(r.reason)),
      cellOf('begun', h('span', {class: 'num'}, r.started ? clock(r.started) : '–')), cellOf('took', h('span', {class: 'num'}, seconds(r.durationSeconds))), cellOf('files', h('code', {}, visible(r.dir))))))),
  ];
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function asExpected(check) {
  return check.outcome === 'pass' || check.outcome === 'not-applicable';
}

// FEW is how many checks with expected outcomes are listed behind others at once.
const FEW = 4;

function checks(cell, narration, lanes, choices) {
  if (!cell.checks?.length) return h('p', {}, 'No check was judged.');
  const looked = new Map((narration?.checks ?? []).map((c) => [c.id, c]));
  const row = (c) => h('tr', {class: 'check-row o-' + c.outcome, 'data-id': c.id, 'data-requirement': c.requirement},
    cellOf('outcome', badge(c.outcome)),
    cellOf('check', h('a', {href: cellHash(cell.id, {check: c.id}), class: 'id'}, visible(c.id)), stated(c.requirement)),
    cellOf('seen', !asExpected(c) && looked.get(c.id)?.cause ? h('div', {}, visible(looked.get(c.id).cause)) : looked.get(c.id)?.summary && h('div', {}, visible(looked.get(c.id).summary)),
      h('details', {}, h('summary', {}, 'expression and value'), values(c, looked.get(c.id)))),
    cellOf('when', looked.has(c.id) && lookAt(looked.get(c.id), lanes)));
  const others = cell.checks.filter((c) => !asExpected(c));
  others.sort((a, b) => index.severity.get(b.outcome) - index.severity.get(a.outcome));
  const models = new Set(others.flatMap((c) => looked.get(c.id)?.models ?? []));
  const modelled = cell.checks.filter((c) => models.has(c.id) && c.outcome === 'pass');
  const rest = cell.checks.filter((c) => asExpected(c) && !modelled.includes(c));
  others.push(...modelled);
  const means = askedFor(choices);
  const wanted = rest.some((c) => means(c.id, c.requirement));
  const folded = others.length > 0 && rest.length > FEW && !wanted;
  const body = h('tbody', {class: 'checks'}, others.map(row), folded ? [] : rest.map(row));
  const unfold = folded && h('p', {}, h('button', {type: 'button', onclick: () => {
    body.append(...rest.map(row));
    unfold.remove();
  }}, `Show the ${rest.length} with expected outcomes`));
  return [modelled.length > 0 && h('p', {class: 'dim ours'}, `${modelled.map((c) => c.id).join(' and ')} ${modelled.length > 1 ? 'compare' : 'compares'} the release with a model of its code, not with the text. If it holds beside a check that does not, the release did what its code is known to do: then the text or the expectation may have to change, and not the release.`),
    table('Checks', ['outcome', 'check', 'seen', 'when'], body), unfold];
}

// stated is a requirement in words, with a link to it.
function stated(id) {
  if (!id) return null;
  return h('div', {class: 'for'}, index.statement.has(id) && [visible(index.statement.get(id).statement), ' '], statementLink(id));
}

function lookAt(looked, lanes) {
  return h('button', {type: 'button', class: 'link', title: 'Show it in the timeline', 'aria-label': `Show ${looked.id} in the timeline, ${spanned(looked)}`, onclick: () => lanes.show(looked.id)}, spanned(looked));
}

// spanned is when a check was evaluated: until it was decided.
function spanned({from, to}) {
  const written = together(from, to);
  return to - from < 0.05 ? seconds(from) : `${written(from).replace(' s', '')}–${written(to)}`;
}

// differences are how a cell differs from the one that it is compared with. Those that two runs
// of one cell may have are folded.
function differences({with: other, distinctions}) {
  const chance = distinctions.filter((d) => d.chance), rest = distinctions.filter((d) => !d.chance);
  return [
    h('p', {}, 'Compared with ', index.at.has(other) ? h('a', {href: cellHash(other)}, breaking(other)) : breaking(other), rest.length > 0 ? ':' : chance.length > 0 ? ': nothing differs but by chance.' : ': nothing differs.'),
    rest.length > 0 && differencesTable('Differences', rest),
    chance.length > 0 && h('details', {}, h('summary', {}, `${counted(chance.length, 'difference')} that two runs of one cell may have, too`), differencesTable('Differences by chance', chance)),
  ];
}

function differencesTable(label, all) {
  const columns = ['step', 'since', 'what', 'here', 'there', 'explained'];
  const value = (text) => text ? h('span', {class: 'said'}, visible(text)) : h('span', {class: 'dim'}, 'not seen');
  return table(label, columns, h('tbody', {}, all.map((d) => h('tr', {},
    cellOf(columns[0], d.step), cellOf(columns[1], h('span', {class: 'num'}, seconds(d.at))), cellOf(columns[2], breaking(d.what)), cellOf(columns[3], value(d.here)), cellOf(columns[4], value(d.there)),
    cellOf(columns[5], d.because ? visible(d.because) : d.chance ? 'by chance' : h('b', {class: 'not'}, '✗ not explained'))))));
}

function observed(all) {
  const columns = ['probe', 'server', 'API server', 'kubelet', 'on the wire', 'answer'];
  const rows = all.map((o) => h('tr', {},
    [o.probe, o.server, o.apiserver, o.kubelet, o.wire].map((t, i) => cellOf(columns[i], visible(t))),
    cellOf('answer', o.succeeds ? 'good' : h('b', {class: 'not'}, '✗ no good answer'))));
  return [h('p', {class: 'dim'}, 'What probes of each kind began with, and whether any got a good answer, for each mix of releases. Servers that are set to fail, and attempts near a restart, are not in it.'),
    table('Probes', columns, h('tbody', {}, rows))];
}

function logs({narration, cell, happened}) {
  const windows = failedWindows(narration, cell);
  const about = narration.about ?? [];
  const decided = new Set(decidingChecks(cell).map((c) => c.id));
  const triggers = (narration.checks ?? []).filter((c) => decided.has(c.id)).map((c) => acted(narration.steps, c.step)).filter(Boolean);
  const trigger = triggers.sort((a, b) => a.from - b.from)[0];
  const unnamed = about.length > 0 && !narration.logs.some((entry) => entry.lines?.some((l) => l.named));
  return h('div', {}, unnamed && h('p', {class: 'note'}, `No log line around the failure names ${visible(about.join(' or '))}.`),
    narration.logs.map((entry, i) => log(entry, windows, filesOf(happened, cell), about, i === 0, trigger)));
}

// filesOf is where a cell left its files, below the report's directory.
function filesOf(happened, cell) {
  return happened?.dir ?? 'cells/' + cell.id;
}

// failedWindows are the windows of the checks that decided: {from, to, ids}.
function failedWindows(narration, cell) {
  const decided = new Set(decidingChecks(cell).map((c) => c.id));
  const windows = new Map();
  for (const {id, from, to} of narration.checks ?? []) {
    if (!decided.has(id)) continue;
    const key = `${from} ${to}`;
    windows.set(key, {from, to, ids: [...(windows.get(key)?.ids ?? []), id]});
  }
  return [...windows.values()];
}

// log is what a component wrote. One that does not name what the checks are about is folded,
// unless it is the first of them all; so are lines from before the step that led to it, the trigger.
function log(entry, windows, dir, about, first, trigger) {
  const all = entry.lines ?? [];
  const named = all.filter((l) => l.named);
  const leading = named.length > 0 ? named : all;
  const others = named.length > 0 ? all.filter((l) => !l.named) : [];
  const lines = (some, between = windows) => h('ol', {class: 'log lines'}, withWindows(some, between));
  const early = trigger ? leading.filter((l) => !l.what && l.at && l.at + (l.within ?? 0) < trigger.from) : [];
  const folded = early.length > 0 && early.length < leading.length;
  const lead = named.length > 0 ? about.length > 0 ? ` lines that name ${about.join(', ')}` : ' lines of the component that decided'
    : about.length > 0 ? ` no line names ${about.join(', ')}; ${counted(all.length, 'other line')} around the failure` : '';
  return h('details', {class: 'object', open: named.length > 0 || about.length === 0 || first || Boolean(entry.silent)},
    h('summary', {}, h('b', {}, visible(entry.component)), lead && h('span', {class: 'dim'}, visible(lead))),
    entry.silent && [h('p', {class: 'note'}, visible(entry.silent)), h('ol', {class: 'log lines nodes'}, entry.nodes.map((l) => logLine(l, windows)))],
    folded && h('details', {class: 'others early'}, h('summary', {}, `${counted(early.length, 'line')} from before step ${trigger.number}`), lines(early, [])),
    lines(folded ? leading.filter((l) => !early.includes(l)) : leading),
    others.length > 0 && h('details', {class: 'others'}, h('summary', {}, `${counted(others.length, 'other line')} around it`), lines(others)),
    entry.rig?.length > 0 && ofTheRig(entry.rig),
    h('p', {class: 'dim'}, 'The whole log is not in this page, but in the report directory: ', logPath(entry.path, dir), entry.omitted?.length > 0 && `. Omitted: ${visible(entry.omitted.join('; '))}.`));
}

// ofTheRig are lines that come of how the rig is made, folded, with the reasons.
function ofTheRig(lines) {
  const count = lines.reduce((n, l) => n + 1 + (l.more ?? 0), 0);
  return h('details', {class: 'rig'}, h('summary', {}, `${counted(count, 'line')} that come of the fake container runtime, not of the release`),
    h('ol', {class: 'log lines'}, lines.map((l) => h('li', {}, h('span', {class: 'num'}, l.at ? seconds(l.at, 2) : ''),
      h('span', {}, visible(l.text), l.more > 0 && h('span', {class: 'more-like-it'}, ` ${l.more} similar lines`), h('span', {class: 'because'}, ' ' + visible(l.what)))))));
}

// logPath is where a log is in the report directory: that of the run that is shown. It is no
// link, since the page may have been sent without the directory.
function logPath(path, dir) {
  const file = path.startsWith('cells/') && path.includes('/logs/') ? dir + path.slice(path.lastIndexOf('/logs/')) : path;
  return h('code', {}, visible(file));
}

// withWindows are lines of a log, with lines between them that say where the windows
// of checks that failed begin and end.
function withWindows(lines, windows) {
  const marks = windows.flatMap(({from, to, ids}) => (to - from < 0.05 ? [{at: from, text: `${ids.join(', ')}: evaluated`, end: 0}]
    : [{at: from, text: `${ids.join(', ')}: evaluated from here`, end: 0}, {at: to, text: `${ids.join(', ')}: evaluated until here`, end: 1}]));
  marks.sort((a, b) => a.at - b.at || a.end - b.end);
  const marked = (until) => marks.splice(0, marks.filter(({at, end}) => (end ? at < until : at <= until)).length)
    .map(({at, text}) => h('li', {class: 'window'}, h('span', {class: 'num'}, seconds(at, 2)), h('span', {}, visible(text))));
  // A line whose time is known to the second may be as late as the end of that.
  const all = lines.flatMap((l) => [...marked((l.at ?? 0) + (l.within ?? 0)), logLine(l, windows)]);
  return [...all, ...marked(Infinity)];
}

// LONG is how long a line may be that is shown at once, and LONG_ON_PHONES on a narrow screen.
const LONG = 280;
const LONG_ON_PHONES = 180;

// gist is a line that is too long, without its middle: its end says the cause.
function gist(text, long) {
  const end = Math.round(long * 2 / 3);
  return text.length > long ? text.slice(0, long - end) + ' … ' + text.slice(-end) : text;
}

// logLine is a line: its beginning and end, if it is long, and all of it when it is opened.
function logLine(l, windows) {
  const within = windows.some(({from, to}) => from <= l.at + (l.within ?? 0) && l.at <= to);
  const text = visible(l.whole ?? l.text);
  const short = text.replace(/^[IWEF]\d{4} [\d:.]+ +\d+ /, ''); // the time stands before it
  const more = l.more > 0 && h('span', {class: 'more-like-it'}, ` ${counted(l.more, 'similar line')}`);
  const long = innerWidth < 720 ? LONG_ON_PHONES : LONG;
  const said = short.length > long
    ? h('details', {}, h('summary', {}, h('span', {class: 'gist'}, gist(short, long))), h('span', {class: 'whole-line'}, text), more)
    : h('span', {title: text}, short, more);
  const why = l.what && h('b', {class: 'because'}, ` ← ${visible(l.what)}`);
  return h('li', {class: `tone-${l.tone || 'plain'}${within ? ' within' : ''}`}, h('span', {class: 'num'}, l.at ? logTime(l) : ''), why ? h('span', {}, said, why) : said);
}

// logTime is when a line was written, as far as its log says that.
function logTime(l) {
  return l.within ? `${l.at.toFixed(1)}–${seconds(l.at + l.within)}` : seconds(l.at, 2);
}

function omitted({narration, cell, happened}) {
  const lines = [happened?.problem, ...(narration?.omitted ?? [])].filter(Boolean).map((line) => h('li', {}, visible(line)));
  lines[narration ? 'push' : 'unshift'](h('li', {}, beside(cell, happened, narration)));
  return h('ul', {}, lines);
}

// beside says what of the cell is in files beside the page, and names only those that
// were there when it was written.
function beside(cell, happened, narration) {
  const {gone = []} = index.cells[index.at.get(cell.id)];
  const dir = filesOf(happened, cell);
  const there = ['plan.txt', 'history.jsonl', 'logs'].filter((name) => !gone.includes(name));
  if (there.length === 0) return 'This cell has no record, or it is not in the report directory.';
  return [narration ? 'Not in this page, but in the report directory: ' : 'The timeline of this cell is not in this page. Its record is in the report directory: ',
    there.map((name, i) => [i > 0 && ', ', h('code', {}, visible(`${dir}/${name}${name === 'logs' ? '/' : ''}`))])];
}

