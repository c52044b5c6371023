// The data of the page: blocks of compressed JSON, unpacked when they are asked for.

const unpacked = new Map();

// block returns a promise of a block's value; of null if the page has none of that name.
function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack(document.getElementById('data-' + name)));
  return unpacked.get(name);
}

async function unpack(element) {
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

// index is what is known of all cells: see the type of that name in pack.go.
export let index;

export async function loadIndex() {
  index = await block('index');
  index.cells ??= [];
  index.requirements ??= [];
  index.releases ??= [];
  index.findings ??= {};
  index.keps ??= {};
  index.classes ??= {};
  index.outcome = Object.fromEntries(index.outcomes.map((o) => [o.name, o]));
  index.at = new Map(index.cells.map((c, i) => [c.id, i]));
  index.statement = new Map(index.requirements.map((q) => [q.id, q]));
  index.severity = new Map(index.outcomes.map((o, i) => [o.name, -i]));
  for (const c of index.cells) {
    c.serves = [];
    c.text = [c.id, c.kep, c.title, c.outcome, c.reason, ...Object.entries(c.axes).map((a) => a.join(':'))].join('\n').toLowerCase();
  }
  const byLetter = Object.fromEntries(index.outcomes.map((o) => [o.letter, o.name]));
  for (const q of index.requirements) {
    q.cells.forEach((at, i) => index.cells[at].serves.push({id: q.id, outcome: byLetter[q.letters[i]], reason: q.reasons?.[at]}));
  }
  return index;
}

// meant returns what tells whether a text means a requirement: the one of that id, or,
// if there is none, each with the text in its id.
export function meant(text) {
  if (!text || index.statement.has(text)) return (id) => Boolean(id) && id === text;
  const part = text.toLowerCase();
  return (id) => Boolean(id) && id.toLowerCase().includes(part);
}

// cellAt returns a promise of a cell as the report has it.
export async function cellAt(i) {
  const cells = await block('cells-' + Math.floor(i / index.chunk));
  return cells[i % index.chunk];
}

// happenedIn returns a promise of what happened in a cell; of null if it is not in the page.
export function happenedIn(i) {
  return block('narration-' + i);
}

// issueOf returns a promise of the draft with which a finding is reported.
export async function issueOf(id) {
  return (await block('issues'))[id] ?? '';
}

let texts;

// loadTexts adds what the checks of all cells say to what can be searched.
export function loadTexts() {
  texts ??= Promise.all(index.cells.map(async (found, i) => {
    const [cell, causes] = [await cellAt(i), await block('causes')];
    const words = (cell.checks ?? []).flatMap((c) => [c.id, c.requirement, c.expected, c.observed, c.reason, index.findings[c.finding]?.headline]);
    words.push(...(causes?.[i] ?? []));
    found.text += '\n' + words.join('\n').toLowerCase();
  }));
  return texts;
}

