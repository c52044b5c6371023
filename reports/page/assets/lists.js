import {h, breaking, counted, visible} from './dom.js';
import {index, loadTexts, meant} from './data.js';
import {cellHash, listHash} from './route.js';
import {badge} from './cell.js';

// The lists of cells and of requirements. They are in the page already; choosing
// among them hides the others.

// chosenCells are the ids of the cells that the reader last chose among, in order.
export let chosenCells = [];
export let lastList = '#cells';

// chooseCells shows the cells that fit the choices, and what was chosen in the form.
export async function chooseCells(view, choices) {
  const form = view.querySelector('form');
  const words = (choices.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  fillForm(form, choices);
  document.getElementById('search').value = choices.get('q') ?? '';
  if (words.length > 0) await loadTexts();
  const fitting = cellTest(choices, words);
  let shown = 0;
  const ids = [];
  for (const area of view.querySelectorAll('.area')) {
    let some = false;
    for (const row of area.querySelectorAll('.item')) {
      const cell = index.cells[row.dataset.at];
      const judged = fitting(cell);
      row.hidden = !judged;
      if (row.hidden) continue;
      showJudged(row, cell, judged, choices.get('requirement'));
      some = true;
      shown++;
      ids.push(cell.id);
    }
    area.hidden = !some;
  }
  chosenCells = ids;
  lastList = listHash('cells', Object.fromEntries(choices));
  const all = index.cells.length;
  const references = index.cells.filter((c) => c.reference).length;
  view.querySelector('#cells-count').textContent = shown === all ? counted(all, 'cell') + (references > 0 ? `: ${all - references}, and ${counted(references, 'reference cell')}` : '') : `${shown || 'None'} of ${counted(all, 'cell')}${shown ? '' : ' fits'}`;
  if (shown && choices.get('requirement')) view.querySelector('#cells-count').append(', each with the outcome of its checks of ', h('b', {}, visible(choices.get('requirement'))));
}

// The rows as they were, of those that show a requirement.
const ownContent = new Map();

// showJudged shows in a row the outcome of the checks of a requirement in its cell; if
// none was chosen, that of the whole cell.
function showJudged(row, cell, {outcome, reason}, requirement) {
  if (ownContent.has(row)) row.replaceChildren(...ownContent.get(row));
  ownContent.delete(row);
  if (!requirement) return;
  ownContent.set(row, [...row.childNodes]);
  row.replaceChildren(badge(outcome), h('span', {class: 'what'}, cell.title && [h('span', {}, visible(cell.title)), ' '], h('a', {class: 'id', href: cellHash(cell.id, {requirement})}, breaking(cell.id))),
    row.querySelector('.took').cloneNode(true), ...(reason ? [h('span', {class: 'why'}, visible(reason))] : []));
}

// judgedBy returns a function for the worst outcome in a cell of the requirements that a
// text selects: {outcome, reason}, or null if the cell serves none.
function judgedBy(text) {
  const means = meant(text);
  return (cell) => cell.serves.filter(({id}) => means(id))
    .reduce((worst, q) => (worst && index.severity.get(worst.outcome) >= index.severity.get(q.outcome) ? worst : q), null);
}

// RELEASE is a word that is a release: it means the cell's own, not those that its texts name.
const RELEASE = /^v?\d+\.\d+/;

function releasesIn(cell) {
  return [cell.id, ...Object.values(cell.axes)].join('\n').toLowerCase();
}

// cellTest returns a function for the outcome of a cell that fits the choices: {outcome,
// reason}, or null if it does not fit.
function cellTest(choices, words) {
  const outcomes = new Set((choices.get('outcome') ?? '').split(',').filter(Boolean));
  if (outcomes.delete('attention')) for (const o of index.outcomes) if (o.tone !== 'good') outcomes.add(o.name);
  const judge = choices.get('requirement') ? judgedBy(choices.get('requirement')) : (cell) => cell;
  const axes = [...choices].filter(([name, value]) => value && index.releases.includes(name));
  const reference = choices.get('reference');
  const fits = (cell) => (!choices.get('kep') || cell.kep === choices.get('kep'))
    && (!reference || (reference === 'yes') === Boolean(cell.reference))
    && axes.every(([name, value]) => (cell.axes[name] ?? 'any') === value)
    && words.every((word) => (RELEASE.test(word) ? releasesIn(cell) : cell.text).includes(word));
  return (cell) => {
    const judged = fits(cell) ? judge(cell) : null;
    return judged && (outcomes.size === 0 || outcomes.has(judged.outcome)) ? judged : null;
  };
}

// chooseStatements shows the requirements that fit, and goes to one if it is named.
export function chooseStatements(view, choices, wanted) {
  const form = view.querySelector('form');
  fillForm(form, choices);
  const words = (choices.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  let target = null;
  const narrowed = Boolean(choices.get('outcome') || words.length > 0);
  for (const area of view.querySelectorAll('.area:has(.statements)')) {
    let some = false;
    for (const row of area.querySelectorAll('.item')) {
      const statement = index.statement.get(row.dataset.id);
      statement.text ??= row.textContent.toLowerCase();
      const isWanted = row.dataset.id === wanted;
      row.classList.toggle('target', isWanted);
      if (isWanted) target = row;
      row.hidden = !isWanted && !(
        (choices.get('unserved') || statement.cells.length > 0)
        && (!choices.get('kep') || statement.kep === choices.get('kep'))
        && (!choices.get('outcome') || row.dataset.outcome === choices.get('outcome'))
        && words.every((word) => statement.text.includes(word)));
      if (row.hidden) continue;
      some = true;
      shown++;
    }
    area.hidden = !some;
    openPassed(area, narrowed, target);
  }
  view.querySelector('#statements-count').textContent = `${shown} of ${counted(index.requirements.length, 'requirement')}`;
  return target;
}

// openPassed opens the passes of an area if the reader looks for something among them, and
// takes them away if he finds nothing there.
function openPassed(area, narrowed, target) {
  const passed = area.querySelector('.passed');
  if (!passed) return;
  passed.hidden = ![...passed.querySelectorAll('.item')].some((row) => !row.hidden);
  passed.open = narrowed || passed.contains(target);
}

// fillForm has a form show the choices.
function fillForm(form, choices) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = choices.get(field.name) ?? '';
    if (field.type === 'checkbox') field.checked = value.split(',').includes(field.value);
    else if (field.value !== value) field.value = value;
  }
  const chosen = Object.keys(readForm(form)).length;
  form.closest('.choose').querySelector('.n').textContent = chosen > 0 ? `${chosen} chosen` : '';
}

// NARROW_SCREEN is where the filters are folded: they would take the whole screen.
const NARROW_SCREEN = matchMedia('(max-width: 640px)');

function foldFilters() {
  for (const filters of document.querySelectorAll('.choose')) filters.open = !NARROW_SCREEN.matches;
}

// readForm returns the choices that a form shows.
function readForm(form) {
  const choices = {};
  for (const field of form.elements) {
    if (!field.name || (field.type === 'checkbox' && !field.checked) || !field.value) continue;
    choices[field.name] = choices[field.name] ? choices[field.name] + ',' + field.value : field.value;
  }
  return choices;
}

// watchForms calls go with where the reader's choices lead, and whether that is
// only a word more of what he is typing.
export function watchForms(go) {
  foldFilters();
  NARROW_SCREEN.addEventListener('change', foldFilters);
  const search = document.getElementById('search');
  const forms = {cells: document.getElementById('filters'), requirements: document.getElementById('statement-filters')};
  for (const [view, form] of Object.entries(forms)) {
    const chosen = () => ({...readForm(form), ...(view === 'cells' && {q: search.value})});
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('input', (event) => go(listHash(view, chosen()), event.target.matches('input:not([type=checkbox])')));
    form.addEventListener('reset', (event) => {
      event.preventDefault();
      go(listHash(view), false);
    });
  }
  search.addEventListener('input', () => go(listHash('cells', {...readForm(forms.cells), q: search.value}), true));
  document.getElementById('requirement-ids').append(...index.requirements.filter((q) => q.cells.length > 0).map((q) => h('option', {value: q.id})));
}
