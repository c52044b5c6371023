// Where the reader is, as the part of the address behind its #: a view, what it is
// of, and choices: "#cell=a/b/c&check=d", "#cells&outcome=fail&q=tls".

// parse returns {view, of, choices} of an address' part.
export function parse(hash) {
  const [first, ...rest] = hash.replace(/^#/, '').split('&');
  const [name, of] = pair(first);
  const views = {'': 'overview', cells: 'cells', cell: 'cell', requirements: 'requirements', requirement: 'requirements', finding: 'overview'};
  // Anything else is the id of a heading in the overview.
  return {view: views[name] ?? 'overview', name, of, choices: new Map(rest.map(pair))};
}

function pair(text) {
  const at = text.indexOf('=');
  if (at < 0) return [decode(text), ''];
  return [decode(text.slice(0, at)), decode(text.slice(at + 1))];
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encode(text) {
  return encodeURIComponent(text).replace(/%2F/g, '/').replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%40/g, '@');
}

// cellHash leads to a cell, and to something in it.
export function cellHash(id, choices = {}) {
  return '#cell=' + encode(id) + joined(choices);
}

// listHash leads to a list of which only some is shown.
export function listHash(view, choices = {}) {
  return '#' + view + joined(choices);
}

export function requirementHash(id) {
  return '#requirement=' + encode(id);
}

function joined(choices) {
  return Object.entries(choices).filter(([, v]) => v).map(([k, v]) => `&${encode(k)}=${encode(v)}`).join('');
}
