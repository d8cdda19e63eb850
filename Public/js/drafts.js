// The send form's values, kept in this tab until the push is sent: nothing typed is lost to a stray click.

import { isChanged } from './changes.js';
import { isForgotten, key } from './forget.js';
import { debounced } from './page.js';

const kept = (field) => field.name && !['preview_language', 'pasted'].includes(field.name)
  && !['hidden', 'password', 'file', 'submit', 'button', 'reset'].includes(field.type);

/** Keeps and restores the form with data-preview; discarding forgets it. */
export function startDrafts() {
  const form = document.querySelector('form[data-preview]');
  if (!form) return;
  const blank = JSON.stringify(values(form));
  const discard = document.querySelector('[data-draft-discard]');
  const notice = document.querySelector('[data-draft-restored]');
  const offer = (yes) => {
    if (discard) discard.hidden = !yes;
    if (notice && !yes) notice.hidden = true;
  };
  const save = () => {
    const now = JSON.stringify(values(form));
    // A form as the server gave it is no draft.
    write(now === blank ? null : JSON.stringify({ at: Date.now(), entries: JSON.parse(now) }));
    offer(now !== blank);
  };
  // A form that the server filled (an error, "send again") is newer than the draft, and wins.
  const draft = 'fresh' in form.dataset ? read() : undefined;
  if (draft) {
    restore(form, draft.entries).then(() => {
      offer(true);
      tell(notice, draft.at);
      form.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }
  const soon = debounced(save);
  form.addEventListener('input', soon);
  form.addEventListener('change', soon);
  // Left within those 300 ms, by a link or by the form's own button: the last letters count too.
  addEventListener('pagehide', () => { if (JSON.stringify(values(form)) !== blank) save(); });
  discard?.addEventListener('click', () => {
    form.reset();
    save();
    // The button is gone, and the focus must not go with it.
    form.querySelector('input:not([type=hidden]), select, textarea')?.focus();
  });
}

function values(form) {
  return [...form.elements].filter(kept).flatMap((field) => {
    if (field.type === 'radio' || field.type === 'checkbox') return field.checked ? [[field.name, field.value]] : [];
    return [[field.name, field.value]];
  });
}

// A form that is not as it was left empty says why, and since when.
function tell(notice, at) {
  if (!notice) return;
  const time = new Date(at);
  const day = time.toDateString() === new Date().toDateString() ? undefined : 'medium';
  const text = time.toLocaleString(document.documentElement.lang, { dateStyle: day, timeStyle: 'short' });
  notice.querySelector('[data-draft-time]').textContent = text;
  notice.hidden = false;
}

/** What was kept; undefined: nothing, or nothing that can be read. */
function read() {
  try {
    const draft = JSON.parse(sessionStorage.getItem(key));
    return Array.isArray(draft?.entries) ? draft : undefined;
  } catch {
    return undefined;
  }
}

async function restore(form, entries) {
  const names = entries.map(([name]) => name);
  // Few drafts have other languages.
  if (names.some((name) => name.startsWith('localization.'))) {
    const { makeRows } = await import('./languages.js');
    makeRows(form, names);
  }
  for (const field of [...form.elements].filter(kept)) {
    const given = entries.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === 'radio' || field.type === 'checkbox') field.checked = given.includes(field.value);
    // An app or a choice that is no longer offered stays at the form's own.
    else if (field.localName === 'select') {
      if ([...field.options].some((option) => option.value === given[0])) field.value = given[0];
    } else if (given.length > 0) field.value = given[0];
    // What is folded away must not be sent unseen.
    if (given.some(Boolean) && isChanged(field)) field.closest('details')?.setAttribute('open', '');
  }
}

function write(text) {
  if (isForgotten()) return;
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // Storage is full or forbidden: then there are no drafts.
  }
}
