import {h, copyText} from './dom.js';
import {issueOf} from './data.js';

// The drafts with which deviations are reported.

// issueButton copies the draft of a finding.
export function issueButton(id) {
  return withDraft(h('button', {type: 'button', class: 'issue', 'data-issue': id}, 'Copy as issue'));
}

// withDraft has a button that names a finding copy its draft. Where the page may not use
// the clipboard, it shows the draft, selected.
export function withDraft(button) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    const draft = await issueOf(button.dataset.issue);
    const shown = button.parentElement.nextElementSibling?.matches('.draft') ? button.parentElement.nextElementSibling
      : h('pre', {class: 'draft', tabindex: 0, 'aria-label': 'Draft of an issue', hidden: true}, draft);
    button.parentElement.after(shown);
    const copied = await copyText(draft);
    shown.hidden = copied;
    if (!copied) getSelection().selectAllChildren(shown);
    button.textContent = copied ? 'Copied' : 'Selected: press Ctrl-C';
    button.addEventListener('blur', () => { button.textContent = label; }, {once: true});
  });
  return button;
}
