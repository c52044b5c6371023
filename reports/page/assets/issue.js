import {h, copyText, visible} from './dom.js';
import {index, issueOf} from './data.js';

// The drafts with which deviations are reported.

// issueButton copies the draft of a finding, or of a check that failed.
export function issueButton(id) {
  return withDraft(h('button', {type: 'button', class: 'issue', 'data-issue': id}, visible(index.findings[id]?.act ?? 'Copy as issue')));
}

// withDraft has a button that names a draft copy it, and shows it below, folded. Where the
// page may not use the clipboard, it shows the draft, selected.
export function withDraft(button) {
  const label = button.textContent;
  const text = h('pre', {class: 'draft', tabindex: 0, 'aria-label': 'Draft', hidden: true});
  const preview = h('details', {class: 'preview'}, h('summary', {}, 'What it copies'), text);
  const shown = async () => {
    text.textContent = await issueOf(button.dataset.issue);
    text.hidden = false;
    return text.textContent;
  };
  preview.addEventListener('toggle', () => preview.open && shown());
  // What holds the button may be made later.
  queueMicrotask(() => (button.closest('.acts') ?? button.parentElement).after(preview));
  button.addEventListener('click', async () => {
    const copied = await copyText(await issueOf(button.dataset.issue));
    if (!copied) {
      preview.open = true;
      await shown();
      getSelection().selectAllChildren(text);
    }
    button.textContent = copied ? 'Copied' : 'Selected: press Ctrl-C';
    button.addEventListener('blur', () => { button.textContent = label; }, {once: true});
  });
  return button;
}
