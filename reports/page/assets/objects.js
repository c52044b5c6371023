import {h, visible, counted, seconds} from './dom.js';
import {diff, hunks} from './diff.js';

// The objects of a cell as they changed, step by step.

export function objects(narration) {
  const named = new Map((narration.steps ?? []).map((step) => [step.number, step.action]));
  return h('div', {class: 'objects'}, (narration.objects ?? []).map((object) => one(object, named)));
}

function one(object, named) {
  const changes = bySteps(object.versions ?? []);
  const body = h('div');
  const details = h('details', {class: 'object'},
    h('summary', {}, h('code', {}, visible(object.key)), ' ', h('span', {class: 'dim'}, `${counted(object.versions.length, 'state')}, in ${counted(changes.length, 'step')}`)), body);
  details.addEventListener('toggle', () => {
    if (details.open && !body.hasChildNodes()) body.append(...changes.map((change) => difference(change, named)));
  });
  return details;
}

// bySteps returns {step, at, before, after, states} for each step in which
// an object changed.
function bySteps(versions) {
  const changes = [];
  let before = null;
  for (const version of versions) {
    const last = changes.at(-1);
    if (last?.step === version.step) {
      last.after = version;
      last.states.push(version);
    } else {
      changes.push({step: version.step, at: version.at, before, after: version, states: [version]});
    }
    before = version;
  }
  return changes;
}

function difference(change, named) {
  const count = change.states.length;
  return h('section', {class: 'change'},
    h('h3', {}, change.step ? `Step ${change.step}` : 'Before the first step', ' ', h('span', {class: 'dim'},
      visible(named.get(change.step) ?? ''), ` · ${what(change.before, change.after)} at ${seconds(change.at, 2)}`, count > 1 ? `, ${count} states until ${seconds(change.after.at, 2)}` : '')),
    between(change.before, change.after),
    count > 1 && later(`each of the ${count} states`, 'states', () => change.states.map((state, i) => {
      const before = i === 0 ? change.before : change.states[i - 1];
      return h('div', {}, h('p', {class: 'dim'}, `${what(before, state)} at ${seconds(state.at, 2)}`), between(before, state));
    })),
    change.before?.yaml && change.after.yaml && later('the object afterwards', 'whole', () => [h('pre', {tabindex: 0, 'aria-label': 'The object'}, visible(change.after.yaml))]));
}

function what(before, after) {
  if (!after.yaml) return after.change === 'unserved' ? 'not served' : 'deleted';
  if (!before?.yaml) return 'added';
  const number = written(after);
  return number && number === written(before) ? `shown differently, not written (resourceVersion ${number})` : number ? `written (resourceVersion ${number})` : 'changed';
}

// written is the resource version of a state: with the same one, nothing was written.
function written(state) {
  return /^ +resourceVersion: "?(\d+)"?$/m.exec(state.yaml)?.[1];
}

// later is something that is made when the reader unfolds it.
function later(title, name, make) {
  const details = h('details', {class: name}, h('summary', {}, title));
  details.addEventListener('toggle', () => details.append(...make()), {once: true});
  return details;
}

// between shows how two states differ. Either may be nothing.
function between(before, after) {
  const pieces = hunks(diff(before?.yaml ?? '', after.yaml ?? ''));
  if (pieces.length === 0) return h('p', {class: 'dim'}, 'No difference afterwards.');
  return h('pre', {class: 'diff', tabindex: 0, 'aria-label': 'What changed'}, pieces.flatMap((piece, i) => [
    i > 0 && h('span', {class: 'cut'}, '⋯\n'), piece.map(([sign, line]) => h('span', {class: {'+': 'plus', '-': 'minus'}[sign]}, `${sign} ${visible(line)}\n`))]));
}
