// The keyboard, and the theme.

// watchKeys handles the keys that work everywhere. where says which view is shown,
// and go goes to an address.
export function watchKeys({where, go, around}) {
  const help = document.getElementById('keys');
  document.getElementById('help').addEventListener('click', () => showHelp(help));
  document.getElementById('theme').addEventListener('click', nextTheme);
  nameTheme();
  if (!matchMedia('(hover: none) and (pointer: coarse)').matches) document.getElementById('search').placeholder += '  /';
  const actions = {
    '/': () => {
      const search = document.getElementById('search');
      search.focus();
      search.select();
    },
    '?': () => showHelp(help), t: nextTheme,
    o: () => go('#'), c: () => go('#cells'), r: () => go('#requirements'),
    j: () => (where() === 'cell' ? around(1) : neighbor(1)),
    k: () => (where() === 'cell' ? around(-1) : neighbor(-1)),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.matches('input:not([type=checkbox]), select, textarea');
    if (event.key === 'Escape') {
      if (typing) event.target.blur();
      else if (where() === 'cell') around(0);
      else return;
    } else if (event.key === 'Enter' && event.target.id === 'search') neighbor(1);
    else if (!typing && actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  });
}

// neighbor goes to the item of a list that is next to where the reader is.
function neighbor(direction) {
  const items = [...document.querySelectorAll('.view:not([hidden]) .item')].filter((i) => i.checkVisibility());
  const now = items.findIndex((i) => i.contains(document.activeElement));
  const next = items[now < 0 ? (direction > 0 ? 0 : items.length - 1) : now + direction];
  if (!next) return;
  next.querySelector('a.id').focus({preventScroll: true});
  next.scrollIntoView({block: 'nearest'});
}

const THEMES = ['', 'light', 'dark'];

function nextTheme() {
  const root = document.documentElement;
  const theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? '') + 1) % THEMES.length];
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  try {
    localStorage.setItem('skewrig-theme', theme);
  } catch {
    // See theme.js.
  }
  nameTheme();
}

function nameTheme() {
  const theme = document.documentElement.dataset.theme;
  const button = document.getElementById('theme');
  button.textContent = {light: '☀', dark: '☾'}[theme] ?? '◐';
  button.setAttribute('aria-label', 'Theme: ' + (theme ?? 'system'));
  button.title = button.getAttribute('aria-label');
}

// showHelp shows the words and keys from their beginning: the button that closes them is at
// the end.
function showHelp(help) {
  help.showModal();
  document.getElementById('words-title').focus();
}
