// Fields that name tags, aliases, segments or devices: what exists is suggested as one types (WAI-ARIA, combobox with a
// list). The app is that of the form's data-app, or of its field. Without script they are plain fields.

import { base, debounced } from './page.js';

const separators = /[,\n，;]/;
let count = 0;

document.querySelectorAll('input[data-pick]').forEach((input) => {
  input.removeAttribute('list');
  const rest = () => {
    const typed = input.value.slice(0, input.selectionStart ?? input.value.length);
    return typed.slice(typed.search(/[^,\n，;]*$/)).trimStart();
  };
  combobox(input, input.dataset.pick, rest, (value) => {
    const caret = input.selectionStart ?? input.value.length;
    const begin = input.value.slice(0, caret - rest().length);
    const after = input.value.slice(caret).replace(/^[^,\n，;]*/, '');
    set(input, begin + quoted(value) + (after || (input.dataset.pickOne === undefined ? ', ' : '')));
  });
});

// A text of several lines cannot be a combobox: a field above it adds what is chosen.
document.querySelectorAll('textarea[data-pick]').forEach((area) => {
  const input = Object.assign(document.createElement('input'), { className: 'input', id: `${area.id}-add` });
  input.autocomplete = 'off';
  const label = Object.assign(document.createElement('label'), { htmlFor: input.id });
  label.textContent = area.dataset.pickLabel;
  const field = Object.assign(document.createElement('div'), { className: 'field' });
  field.append(label, input);
  area.closest('.field').before(field);
  combobox(input, area.dataset.pick, () => input.value.trimStart(), (value) => {
    input.value = '';
    set(area, [area.value.trimEnd(), quoted(value)].filter(Boolean).join('\n'));
  });
  input.addEventListener('keydown', (event) => { if (event.key === 'Enter') event.preventDefault(); });
});

function combobox(input, kind, typed, choose) {
  const list = Object.assign(document.createElement('ul'), { className: 'pick-list', id: `pick-${count += 1}` });
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', input.labels[0]?.textContent.trim() ?? '');
  list.hidden = true;
  const box = Object.assign(document.createElement('div'), { className: 'pick' });
  // A field that is moved loses the focus, and somebody may be in it.
  const caret = document.activeElement === input ? [input.selectionStart, input.selectionEnd] : undefined;
  input.replaceWith(box);
  box.append(input, list);
  if (caret) {
    input.focus({ preventScroll: true });
    input.setSelectionRange(...caret);
  }
  for (const [name, value] of [
    ['role', 'combobox'], ['aria-autocomplete', 'list'], ['aria-controls', list.id], ['aria-expanded', 'false'],
    ['autocomplete', 'off'],
  ]) input.setAttribute(name, value);
  let active = -1;
  let running;
  // Whether what was typed is still a question when the pause after the last key is over.
  let wanted = false;

  const close = () => {
    wanted = false;
    running?.abort();
    list.hidden = true;
    list.replaceChildren();
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const point = (index) => {
    active = index;
    [...list.children].forEach((item, at) => item.setAttribute('aria-selected', at === index));
    if (index < 0) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', list.children[index].id);
    list.children[index].scrollIntoView({ block: 'nearest' });
  };
  const take = (item) => {
    const { value } = item.dataset;
    close();
    choose(value);
    input.focus();
  };
  const open = async () => {
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    const { dataset, elements } = input.form;
    const items = await suggestions(kind, dataset.app ?? elements.app?.value, typed(), signal);
    if (signal.aborted || document.activeElement !== input) return;
    list.replaceChildren(...items.map((item, index) => option(item, `${list.id}-${index}`)));
    list.hidden = items.length === 0;
    input.setAttribute('aria-expanded', items.length > 0);
    point(-1);
  };
  const answer = debounced(() => { if (wanted) open(); }, 120);
  const soon = () => {
    wanted = true;
    answer();
  };
  input.addEventListener('input', (event) => {
    // While a Chinese word is being composed, its letters are no name yet. What a choice sets is no question either.
    if (event.isTrusted && !event.isComposing) soon();
  });
  input.addEventListener('compositionend', soon);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const last = list.children.length - 1;
    if (event.key === 'ArrowDown' && list.hidden) open();
    else if (event.key === 'ArrowDown') point(active < last ? active + 1 : 0);
    else if (event.key === 'ArrowUp' && !list.hidden) point(active > 0 ? active - 1 : last);
    else if (event.key === 'Enter' && active >= 0) take(list.children[active]);
    else if (event.key === 'Escape' && (wanted || !list.hidden)) close();
    else return;
    event.preventDefault();
  });
  // Before the field loses the focus, and with it the list.
  list.addEventListener('mousedown', (event) => {
    event.preventDefault();
    const item = event.target.closest('[role=option]');
    if (item) take(item);
  });
}

async function suggestions(kind, app, text, signal) {
  if (!app) return [];
  try {
    const answer = await fetch(`${base}/audiences/suggestions?${new URLSearchParams({ kind, app, q: text })}`, {
      headers: { Accept: 'application/json' }, credentials: 'same-origin', signal,
    });
    const isJSON = answer.headers.get('Content-Type')?.startsWith('application/json');
    return answer.ok && isJSON ? (await answer.json()).items : [];
  } catch {
    return [];
  }
}

function option({ value, label, detail }, id) {
  const item = Object.assign(document.createElement('li'), { id });
  item.setAttribute('role', 'option');
  item.setAttribute('aria-selected', 'false');
  item.dataset.value = value;
  item.append(Object.assign(document.createElement('span'), { textContent: label }));
  if (detail) item.append(Object.assign(document.createElement('span'), { className: 'sub', textContent: detail }));
  return item;
}

// As the server reads a list: what contains a separator is quoted.
const quoted = (value) => {
  const isPlain = !separators.test(value) && !value.startsWith('"');
  return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
};

function set(field, value) {
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
