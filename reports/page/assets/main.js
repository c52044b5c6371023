import {h, withCopy, landOn, scrollToHeight} from './dom.js';
import {withDraft} from './issue.js';
import {index, loadIndex, meant} from './data.js';
import {parse, cellHash, listHash} from './route.js';
import {cellView} from './cell.js';
import {chooseCells, chooseStatements, chosenCells, lastList, watchForms} from './lists.js';
import {watchKeys} from './keys.js';
import {linkWords, showWord} from './glossary.js';

// The views, and the ways between them.

const views = Object.fromEntries(['overview', 'cells', 'requirements', 'cell'].map((id) => [id, document.getElementById(id)]));
let here = null; // {view, hash, of}
let arrivals = 0;
let followed = false; // a link was followed, rather than the browser's history
const scrolled = new Map(); // how far a place was scrolled when the reader left it

async function route() {
  const to = parse(location.hash);
  const arrival = ++arrivals;
  const from = here;
  const back = !followed;
  followed = false;
  if (from) scrolled.set(from.hash, scrollY);
  here = {view: to.view, hash: location.hash, of: to.of, choices: to.choices};
  const target = await fill(to);
  if (arrival !== arrivals) return; // somewhere else by now
  for (const [id, view] of Object.entries(views)) view.hidden = id !== to.view;
  linkWords(views[to.view]);
  for (const link of document.querySelectorAll('header [data-view]')) {
    if (link.dataset.view === (to.view === 'cell' ? 'cells' : to.view)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = titleFor(to);
  place(to, from, back, target);
  document.documentElement.dataset.shown = location.hash || '#';
}

// fill makes a view what it is to be, and returns what is to be in sight.
async function fill(to) {
  if (to.view === 'cells') await chooseCells(views.cells, to.choices);
  if (to.view === 'requirements') return chooseStatements(views.requirements, to.choices, to.name === 'requirement' ? to.of : '');
  if (to.view === 'cell') await cellView(views.cell, to.of, to.choices, siblings(to.of, to.choices));
  if (to.view === 'overview' && to.name) return unfold(document.getElementById(to.name === 'finding' ? 'finding-' + to.of : to.name));
  return null;
}

// unfold opens what is folded around an element.
function unfold(element) {
  for (let e = element; e; e = e.parentElement) if (e.matches('details')) e.open = true;
  return element;
}

// place scrolls to where the reader was, or to what he asked for, and gives the
// focus to what a keyboard goes on from.
function place(to, from, back, target) {
  if (target) {
    landOn(target);
    target.querySelector('a.id, summary')?.focus({preventScroll: true});
  } else if (from && back) {
    scrollToHeight(scrolled.get(here.hash) ?? 0);
  } else if (to.view === 'cell') {
    const row = views.cell.querySelector('.target, .attempts [aria-expanded=true]');
    if (row) landOn(row);
    else if (!to.choices.get('part')) scrollToHeight(0);
  } else if (from && from.view !== to.view) {
    scrollToHeight(0);
  }
  if (!from || from.view === to.view && to.view !== 'cell') return;
  if (to.view === 'cell') views.cell.querySelector('h1')?.focus({preventScroll: true});
  else if (from.view === 'cell') {
    const links = [...views[to.view].querySelectorAll('.item a.id, a.tile, a.labeled')].filter((a) => a.checkVisibility());
    (links.find((a) => a.hash === from.hash) ?? links.find((a) => a.hash === cellHash(from.of)))?.focus({preventScroll: true});
  }
}

// holdLoad keeps the page from being loaded until what it returns is called: what prints a page
// once it is loaded has what a link is to. A document in it that is not closed does that.
function holdLoad() {
  const frame = h('iframe', {hidden: true, title: 'Opening'});
  document.body.append(frame);
  frame.contentDocument.open();
  return () => {
    frame.contentDocument.close();
    frame.remove();
  };
}

const verdict = document.title;

function titleFor(to) {
  if (to.view === 'cell') return `${to.of} – skewrig`;
  if (to.view === 'overview') return verdict;
  return `${to.view === 'cells' ? 'Cells' : 'Requirements'} – ${verdict}`;
}

// siblings are the cells before and after one in the list that the reader came from,
// how to get to them, and back to the list. What they are looked at for stays.
function siblings(id, choices) {
  const requirement = choices.get('requirement');
  const {all, list} = listOf(id, requirement);
  const at = all.indexOf(id);
  return {previous: at > 0 ? all[at - 1] : null, next: at >= 0 ? all[at + 1] : null, list, hash: (other) => cellHash(other, {requirement})};
}

// listOf is the list that a cell was last in. A link to what a cell says of a
// requirement may be followed without any: it is in the list of that requirement's.
function listOf(id, requirement) {
  if (chosenCells.includes(id) && (!requirement || parse(lastList).choices.get('requirement') === requirement)) return {all: chosenCells, list: lastList};
  const means = meant(requirement);
  const cells = requirement ? index.cells.filter((c) => c.serves.some((q) => means(q.id))) : index.cells;
  return {all: cells.map((c) => c.id), list: listHash('cells', {requirement})};
}

// go goes to an address; in the place of where the reader is, if that is only on
// the way.
function go(hash, passing = false) {
  followed = true;
  if (passing && here?.view === parse(hash).view) history.replaceState(null, '', hash);
  else history.pushState(null, '', hash);
  route();
}

function around(direction) {
  const near = siblings(here.of, here.choices);
  if (direction === 0) go(near.list);
  else if (direction > 0 && near.next) go(near.hash(near.next));
  else if (direction < 0 && near.previous) go(near.hash(near.previous));
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.classList.contains('skip')) document.getElementById('main').focus();
  else if (link.classList.contains('to-top')) scrollToHeight(0);
  else if (link.classList.contains('word')) showWord(link.hash.slice(1));
  else go(link.getAttribute('href'));
});

// What is folded up would be missing on paper.
let unfolded = [];
addEventListener('beforeprint', () => {
  unfolded = [...document.querySelectorAll('details:not([open])')].filter((d) => d.checkVisibility());
  for (const d of unfolded) d.open = true;
  for (const b of document.querySelectorAll('.folding[aria-expanded=false]')) {
    b.click();
    unfolded.push(b);
  }
});
addEventListener('afterprint', () => {
  for (const d of unfolded) {
    if (d.matches('.folding')) d.click();
    else d.open = false;
  }
});

history.scrollRestoration = 'manual';
addEventListener('popstate', route);
for (const box of document.querySelectorAll('.copied')) withCopy(box);
for (const button of document.querySelectorAll('[data-issue]')) withDraft(button);
const opened = holdLoad();
try {
  await loadIndex();
  watchForms(go);
  watchKeys({where: () => here?.view, go, around});
  await route();
  performance.mark('ready');
} finally {
  document.documentElement.classList.remove('opening');
  opened();
}
