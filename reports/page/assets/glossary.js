import {h} from './dom.js';

// The words of the page, and what they mean.

const dialog = document.getElementById('keys');

// terms are the elements that name the words, by the words and their other forms.
const terms = new Map([...dialog.querySelectorAll('.words dt')].flatMap((term) => (term.dataset.forms ?? term.textContent).split('|').map((form) => [form, term])));

// WORD is a word, also in the plural. The longest comes first: a reference cell is more than a cell.
const WORD = new RegExp('(?<![\\p{L}\\d-])(' + [...terms.keys()].sort((a, b) => b.length - a.length).map((form) => form.replace(/[()]/g, '\\$&')).join('|') + ')s?(?![\\p{L}\\d-])', 'giu');

// linkWords has the first place of each word in a view lead to what it means. It looks only
// where the page speaks: what programs under test say has words of its own.
export function linkWords(view) {
  const done = new Set([...view.querySelectorAll('a.word')].map((link) => link.hash.slice(1)));
  for (const element of view.querySelectorAll('.ours, .column h2')) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text;) {
      const found = text.parentElement.closest('a, button, summary') ? null : [...text.data.matchAll(WORD)].find((match) => !done.has(termOf(match).id));
      if (!found) {
        text = walker.nextNode();
        continue;
      }
      const {id} = termOf(found);
      done.add(id);
      const word = text.splitText(found.index);
      text = word.splitText(found[0].length);
      word.replaceWith(h('a', {class: 'word', href: '#' + id, title: 'What this word means'}, found[0]));
      walker.currentNode = text;
    }
  }
}

function termOf(match) {
  return terms.get(match[1].toLowerCase());
}

// showWord opens the glossary at a word.
export function showWord(id) {
  const term = document.getElementById(id);
  for (const other of terms.values()) other.classList.toggle('target', other === term);
  dialog.showModal();
  term.tabIndex = -1;
  term.focus();
  term.scrollIntoView({block: 'center'});
}
