// What changed between two texts, line by line.

// diff returns the lines of both as [sign, line]: ' ' where they agree, '-' what
// only the first has, '+' what only the second has.
export function diff(before, after) {
  const a = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const b = after === '' ? [] : after.replace(/\n$/, '').split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [
    ...a.slice(0, start).map((line) => [' ', line]),
    ...changed(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map((line) => [' ', line]),
  ];
}

// Beyond this many pairs of lines, all of the one is shown as replaced by the other.
const MOST = 4_000_000;

// changed is the longest common subsequence, by the table of its lengths.
function changed(a, b) {
  if (a.length * b.length > MOST) return [...a.map((line) => ['-', line]), ...b.map((line) => ['+', line])];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i]]);
      i++;
      j++;
    } else if (j === b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push(['-', a[i++]]);
    } else {
      lines.push(['+', b[j++]]);
    }
  }
  return lines;
}

// hunks returns what changed with a few lines around it, in pieces.
export function hunks(lines, around = 3) {
  const near = new Set();
  lines.forEach(([sign], i) => {
    if (sign === ' ') return;
    for (let k = i - around; k <= i + around; k++) near.add(k);
  });
  const pieces = [];
  lines.forEach((line, i) => {
    if (!near.has(i)) return;
    if (!near.has(i - 1) || pieces.length === 0) pieces.push([]);
    pieces.at(-1).push(line);
  });
  return pieces;
}
