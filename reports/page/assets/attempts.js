import {h, visible, counted, seconds, cellOf, table} from './dom.js';

// The attempts of probes: a table in which each attempt has its wire log.

const PAGE = 60; // how many attempts are listed until the reader asks for more

// attempts returns the table, and show, which opens an attempt by its number.
// The history is the file that has what attempts leave out.
export function attempts(narration, history) {
  const all = (narration.attempts ?? []).map((a, i) => ({...a, number: i + 1}));
  const body = h('tbody');
  const more = h('p');
  const containers = [...new Set(all.flatMap(containersOf))].sort();
  const failing = [...new Set(all.filter((a) => a.tone === 'bad').map((a) => a.probed ?? a.container))];
  const bad = all.filter((a) => a.tone === 'bad').length;
  const choice = {container: failing.length === 1 ? failing[0] : '', bad: false};
  let listed = 0;

  function chosen() {
    return beneath(all.filter((a) => (!choice.container || containersOf(a).includes(choice.container)) && (!choice.bad || a.tone === 'bad')));
  }

  function list(count) {
    const wanted = chosen();
    listed = Math.min(count, wanted.length);
    body.replaceChildren(...wanted.slice(0, listed).flatMap((a) => lines(a, all, history)));
    more.replaceChildren(...(listed < wanted.length
      ? [h('button', {type: 'button', onclick: () => list(listed + 10 * PAGE)}, `Show more of ${counted(wanted.length - listed, 'attempt')}`)] : []));
  }

  function show(number) {
    const attempt = all[number - 1];
    if (!attempt) return;
    if (!chosen().includes(attempt)) reset();
    const position = chosen().indexOf(attempt);
    if (position >= listed) list(position + PAGE);
    const button = body.querySelector(`#attempt-${number}`);
    if (button.getAttribute('aria-expanded') === 'false') button.click();
    button.scrollIntoView({block: 'center'});
    button.focus({preventScroll: true});
  }

  function reset() {
    choice.container = '';
    choice.bad = false;
    for (const field of element.querySelectorAll('select')) field.value = '';
    for (const field of element.querySelectorAll('input')) field.checked = false;
    list(PAGE);
  }

  const element = h('div', {class: 'attempts'},
    h('div', {class: 'filters'},
      containers.length > 1 && h('label', {}, 'container ', h('select', {onchange: (e) => { choice.container = e.target.value; list(PAGE); }},
        h('option', {value: ''}, 'all'), containers.map((c) => h('option', {value: c, selected: c === choice.container}, visible(c))))),
      bad > 0 && bad < all.length && h('label', {class: 'box'}, h('input', {type: 'checkbox', onchange: (e) => { choice.bad = e.target.checked; list(PAGE); }}), ` only the ${bad} failed attempts`)),
    table('Attempts', ['attempt', 'at', 'asked', 'caller', 'prediction', 'observed', 'took'], body),
    more);
  list(PAGE);
  return {element, show};
}

// containersOf are the one that was asked, and the one whose probe asked it.
function containersOf(attempt) {
  return attempt.probed ? [attempt.container, attempt.probed] : [attempt.container];
}

// beneath puts what a redirect led to beneath the attempt that had the redirect.
function beneath(attempts) {
  const numbers = new Set(attempts.map((a) => a.number));
  const led = new Map();
  for (const a of attempts) if (numbers.has(a.follows)) led.set(a.follows, [...led.get(a.follows) ?? [], a]);
  const withLed = (a) => [a, ...(led.get(a.number) ?? []).flatMap(withLed)];
  return attempts.filter((a) => !numbers.has(a.follows)).flatMap(withLed);
}

// wireOf is what went over the wire of an attempt. What it shares with an earlier one has no
// time, as WireOf has it in Go.
function wireOf(attempt, all) {
  const own = [...attempt.wire ?? []];
  if (!attempt.like) return own;
  return (all[attempt.like - 1]?.wire ?? []).map((l) => own[0]?.what === l.what ? own.shift() : {...l, at: 0});
}

// lines are the rows of an attempt: the attempt, and what went over the wire.
function lines(attempt, all, history) {
  const wire = wireOf(attempt, all);
  const log = h('tr', {class: 'wire', id: `wire-${attempt.number}`, hidden: true}, h('td', {colspan: 7}));
  const button = h('button', {
    type: 'button', class: 'link', id: `attempt-${attempt.number}`, 'aria-expanded': 'false', 'aria-controls': `wire-${attempt.number}`,
    'aria-label': `Attempt ${attempt.number}: wire log`,
    onclick: () => {
      const opened = button.getAttribute('aria-expanded') === 'false';
      button.setAttribute('aria-expanded', String(opened));
      log.hidden = !opened;
      if (opened && !log.firstChild.hasChildNodes()) log.firstChild.append(...wireLog(attempt, wire, history));
    },
  }, h('span', {class: 'caret', 'aria-hidden': 'true'}), String(attempt.number));
  const bad = attempt.tone === 'bad';
  // A click anywhere in the row opens it, unless it ends a selection of text.
  const open = (e) => { if (!button.contains(e.target) && document.getSelection().isCollapsed) button.click(); };
  return [h('tr', {class: bad && 'bad', onclick: open},
    cellOf('attempt', attempt.follows ? '↳ ' : '', button), cellOf('at', time(attempt.at)), cellOf('asked', visible(attempt.container)), cellOf('caller', visible(attempt.by)),
    cellOf('prediction', attempt.expected ? visible(attempt.expected) : h('span', {class: 'dim'}, '–')),
    cellOf('observed', bad && h('b', {class: 'not'}, '✗ '), visible(attempt.observed),
      attempt.leftOut && h('span', {class: 'dim'}, ' (details omitted)')), cellOf('took', time(attempt.took ?? 0))), log];
}

function time(t) {
  return h('span', {class: 'num'}, seconds(t, 3));
}

function wireLog(attempt, wire, history) {
  if (attempt.leftOut) return [h('p', {class: 'dim'}, 'Omitted to keep this page small: see ', h('code', {}, visible(history)))];
  if (wire.length === 0) return [h('p', {class: 'dim'}, 'No bytes are recorded here.')];
  return [h('ol', {class: 'log'}, wire.map((l) => h('li', {class: 'tone-' + (l.tone || 'plain')},
    h('span', {class: 'num'}, l.at ? '+' + seconds(Math.max(0, l.at - attempt.at), 4) : ''), h('b', {}, visible(l.what)), h('span', {}, visible(l.text)))))];
}
