// Elements. Texts of a report come from programs under test, so they become text
// nodes and attributes only: nothing here reads a string as markup.

const SVG = 'http://www.w3.org/2000/svg';

// h makes an element of HTML: h('p', {class: 'dim'}, 'text', child).
export function h(name, attributes = {}, ...children) {
  return equip(document.createElement(name), attributes, children);
}

// s makes an element of SVG.
export function s(name, attributes = {}, ...children) {
  return equip(document.createElementNS(SVG, name), attributes, children);
}

function equip(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

// rounded returns a text without the noise of floating point: 2.431, and not 2.4309999999999974.
function rounded(text) {
  return text.replace(/\b\d+\.\d{12,}\b/g, (number) => String(Number(Number(number).toFixed(9))));
}

// visible returns a text in which what does not show as itself is escaped: control
// characters, and the marks that reverse the direction of writing.
export function visible(text) {
  return rounded(String(text ?? '')).replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (c) => {
    const code = c.codePointAt(0);
    if (code < 0x100) return '\\x' + code.toString(16).padStart(2, '0');
    return code > 0xffff ? '\\U' + code.toString(16).padStart(8, '0') : '\\u' + code.toString(16).padStart(4, '0');
  });
}

// breaking is an id that lines may break after each slash.
export function breaking(id) {
  return visible(id).split('/').flatMap((part, i) => (i > 0 ? ['/', h('wbr'), part] : [part]));
}

// LOCAL are addresses of the machine that a page was made on.
const LOCAL = /^https?:\/\/(127\.|0\.0\.0\.0|localhost(?::|\/|$)|\[::)/i;

// linked returns a text with its web addresses as links, but for those of the rig.
export function linked(text) {
  const parts = [];
  let last = 0;
  const shown = visible(text);
  for (const match of shown.matchAll(/https?:\/\/[^\s<>"'()]+/g)) {
    if (LOCAL.test(match[0])) continue; // of the rig: it ended with it
    parts.push(shown.slice(last, match.index), h('a', {href: match[0], rel: 'noreferrer'}, match[0]));
    last = match.index + match[0].length;
  }
  return [...parts, shown.slice(last)];
}

// counted is a number with what it counts, in the plural if it is not one.
export function counted(n, what) {
  return n === 1 ? `1 ${what}` : `${n} ${what}s`;
}

// seconds writes a time of a cell.
export function seconds(t, digits = 1) {
  return `${t.toFixed(digits)} s`;
}

// together returns what writes times that are shown together: with one decimal, but those that
// would read the same with milliseconds.
export function together(...times) {
  const exact = Map.groupBy(new Set(times.filter((t) => t !== undefined).map((t) => t.toFixed(3))), (t) => Number(t).toFixed(1));
  return (t) => seconds(t, exact.get(Number(t.toFixed(3)).toFixed(1))?.length > 1 ? 3 : 1);
}

// copied is a command, or another text with a name, with a button that copies it.
export function copied(text, name = 'Command') {
  return withCopy(h('div', {class: 'copied'}, h('pre', {tabindex: 0, 'aria-label': name}, visible(text))));
}

// withCopy gives a box with a command in it a button that copies the command.
export function withCopy(box) {
  const pre = box.querySelector('pre');
  const button = h('button', {type: 'button', class: 'copy', onclick: () => copy(pre, button)}, 'Copy');
  box.append(button);
  return box;
}

async function copy(pre, button) {
  const copied = await copyText(pre.textContent);
  if (!copied) getSelection().selectAllChildren(pre);
  button.textContent = copied ? 'Copied' : 'Selected: press Ctrl-C';
  button.addEventListener('blur', () => { button.textContent = 'Copy'; }, {once: true});
}

// copyText copies a text, and reports whether it could: pages from files may not use the
// clipboard.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// table is a table that can be scrolled where it is wider than the page; on a
// narrow one its lines become blocks, in which each cell says what it is.
export function table(label, columns, body) {
  return h('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Table: ' + label}, h('table', {class: 'data'},
    h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col'}, name)))), body));
}

// cellOf is a cell of a column of such a table.
export function cellOf(column, ...children) {
  return h('td', {'data-column': column}, h('div', {}, children));
}

let landings = 0; // changes when the page scrolls to something else, or the reader does

for (const input of ['wheel', 'touchstart', 'pointerdown', 'keydown']) addEventListener(input, () => landings++, {capture: true, passive: true});

// landOn scrolls to an element, and again when what is above it has got its height: what was
// never in sight has an assumed one. A reader who moves on meanwhile is not taken back.
export function landOn(element, block = 'center') {
  let left = 4;
  const since = landings;
  const land = () => {
    if (since !== landings) return;
    element.scrollIntoView({block, behavior: 'instant'});
    if (--left > 0 && element.isConnected) requestAnimationFrame(land);
  };
  land();
}

// scrollToHeight shows the page from a height on, in pixels, and ends what landOn began.
export function scrollToHeight(top) {
  landings++;
  scrollTo(0, top);
}
