// The send form's preview as one types: sentence, lock screen, exact request, lint. It never sends a push.

import { isChanged } from './changes.js';
import { debounced } from './page.js';

/** Follows the form with data-preview. */
export function startPreview() {
  const form = document.querySelector('form[data-preview]');
  if (!form) return;
  // An error is for a field that someone has filled and left, or that came back with one; not for what is still empty.
  // The box for a pasted push stands outside the form: the preview does not read it, and must not clear its error.
  const fields = [...form.querySelectorAll('[name]')];
  const touched = new Set(fields.map((field) => field.name).filter((name) => note(name, 'error')));
  returnTo(form);
  let running;
  const update = async () => {
    running?.abort();
    running = new AbortController();
    const preview = await ask(form, running.signal);
    if (preview) show(form, preview, touched);
  };
  const soon = debounced(update);
  // What was typed before this came.
  const begun = new Set([...form.elements].filter(isChanged).map(({ name }) => name).filter(Boolean));
  const changed = (event) => {
    if (event.target.name) begun.add(event.target.name);
    soon();
  };
  const left = () => {
    const names = [...begun].filter((name) => !place(form, name)?.contains(document.activeElement));
    if (!names.length) return;
    names.forEach((name) => {
      begun.delete(name);
      touched.add(name);
    });
    soon();
  };
  form.addEventListener('input', changed);
  form.addEventListener('change', changed);
  // A click on a label takes the focus away for a moment, and then gives it to the label's field.
  form.addEventListener('focusout', () => setTimeout(left, 250));
  form.addEventListener('reset', () => {
    begun.clear();
    touched.forEach((name) => mark(name, ''));
    touched.clear();
    soon();
  });
  // Going back, the browser fills fields by itself and tells nobody. An empty form has no preview to ask for.
  const look = () => {
    if (!('fresh' in form.dataset) || [...form.elements].some(isChanged)) soon();
  };
  addEventListener('pageshow', look);
  // This comes with the first sign of a person, whose first letters are in the form already.
  look();
}

// A choice is left with its whole step: what it asks for stands in the fields below.
function place(form, name) {
  const found = form.elements[name];
  const field = found instanceof RadioNodeList ? found[0] : found;
  return field?.matches('[type=radio], [type=checkbox]') ? field.closest('.step') ?? field : field;
}

async function ask(form, signal) {
  try {
    const answer = await fetch(form.getAttribute('action'), {
      method: 'POST', body: new URLSearchParams(texts(form)), signal,
      headers: { Accept: 'application/json' }, credentials: 'same-origin',
    });
    // Signed out, or an older server: what is shown stays, and the button tells.
    const json = answer.headers.get('Content-Type')?.startsWith('application/json');
    return answer.ok && json ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

const texts = (form) => [...new FormData(form)].filter(([, value]) => typeof value === 'string');

function show(form, preview, touched) {
  touched.forEach((name) => mark(name, preview.errors?.[name] ?? ''));
  if (preview.sentence === undefined) {
    // Errors alone: nothing can be checked, and no number of devices is promised. The phones show what is typed.
    typed(form);
    checks([], preview.errors);
    return;
  }
  for (const element of document.querySelectorAll('[data-show]')) {
    set(element, preview[element.dataset.show] ?? '');
  }
  document.querySelectorAll('[data-platform]').forEach((phone) => { phone.hidden = !preview[phone.dataset.platform]; });
  for (const bar of document.querySelectorAll('[data-bytes]')) {
    bar.max = preview.limit || 1;
    bar.value = preview.bytes ?? 0;
  }
  document.querySelectorAll('[data-bytes-text]').forEach((element) => set(element, preview.bytes_text ?? ''));
  document.querySelectorAll('[data-preview-languages]').forEach((part) => languages(part, preview.languages ?? []));
  checks(preview.findings ?? [], preview.errors);
  if (typeof preview.callbacks_html !== 'string') return;
  for (const element of document.querySelectorAll('[data-callbacks]')) {
    // A push that is no notification has none.
    element.hidden = !preview.callbacks_html;
    // Rows that our own server wrote and escaped. The table keeps its head.
    element.querySelector('tbody').innerHTML = preview.callbacks_html;
  }
}

// Live regions are read out at every change of a node: what is the same is left alone.
function set(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

// Which language is previewed. What is the same stays, with the focus in it.
function languages(part, choices) {
  const wanted = JSON.stringify(choices);
  part.hidden = !choices.length;
  if (part.dataset.choices === wanted) return;
  part.dataset.choices = wanted;
  const chosen = part.querySelector('input:checked')?.value ?? '';
  part.querySelector('.seg').replaceChildren(...choices.map(({ value, label }) => {
    const radio = Object.assign(document.createElement('input'), { type: 'radio', name: 'preview_language', value });
    radio.checked = value === chosen;
    const text = document.createElement('label');
    text.append(radio, label);
    return text;
  }));
}

const marks = { error: ['red', 'error'], warning: ['amber', 'warn'], hint: ['faint', 'info'] };

function typed(form) {
  for (const part of ['sentence', 'title', 'android_title', 'subtitle', 'body', 'android_body']) {
    const text = form.elements[part.replace('android_', '')]?.value ?? '';
    document.querySelectorAll(`[data-show=${part}]`).forEach((element) => set(element, text));
  }
}

// “No issues found” is said of a whole push alone.
function checks(findings, errors) {
  const isWhole = !Object.keys(errors ?? {}).length;
  document.querySelectorAll('[data-lint]').forEach((list) => lint(list, findings));
  for (const [selector, fits] of [['[data-lint-none]', isWhole], ['[data-lint-open]', !isWhole]]) {
    document.querySelectorAll(selector).forEach((element) => { element.hidden = findings.length > 0 || !fits; });
  }
}

function lint(list, findings) {
  const items = findings.map(({ severity, severity_text: word, message, field, fix, fix_text: action, href, link }) => {
    const [colour, symbol] = marks[severity];
    const mark = Object.assign(document.createElement('span'), { className: colour });
    mark.append(icon(symbol));
    const text = document.createElement('div');
    const label = `${word}${list.dataset.label ?? ': '}`;
    text.append(Object.assign(document.createElement('span'), { className: 'vh', textContent: label }), message);
    if (href) text.append(' ', Object.assign(document.createElement('a'), { href, textContent: link }));
    const item = document.createElement('li');
    item.append(mark, text);
    if (fix) item.append(repair(list, fix, action, field));
    return item;
  });
  const same = items.length === list.children.length
    && items.every((item, index) => words(item) === words(list.children[index]));
  if (!same) list.replaceChildren(...items);
}

const words = (item) => item.textContent.replace(/\s+/g, ' ').trim();

// No submit button: it would come before the form's own, and Enter would press it.
function repair(list, fix, action, field) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button', className: 'button small', textContent: action,
  });
  button.addEventListener('click', () => {
    const form = list.closest('form');
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'fix', value: fix }));
    try {
      sessionStorage.setItem(repaired, field);
    } catch {
      // Without storage, the focus starts at the top.
    }
    form.submit();
  });
  return button;
}

const repaired = 'signalbox.repaired';

// The form comes back as a page of its own: a person goes on at the field that was changed.
function returnTo(form) {
  let name;
  try {
    name = sessionStorage.getItem(repaired);
    sessionStorage.removeItem(repaired);
  } catch {
    // As above.
  }
  if (!name) return;
  const found = document.getElementById(name) ?? form.elements[name];
  const field = found instanceof RadioNodeList ? found[0] : found;
  field?.closest('details')?.setAttribute('open', '');
  field?.focus();
}

const note = (name, kind) => (name ? document.getElementById(`${name}-${kind}`) : null);

// One line below a field: its hint, or what is wrong with it. A field without a hint gets the line with its first error.
function mark(name, text) {
  const hint = note(name, 'hint');
  let error = note(name, 'error');
  if (!error && !text) return;
  const part = described(name);
  if (!error) {
    const box = hint?.parentElement ?? part?.closest('.field');
    if (!box) return;
    error = Object.assign(document.createElement('p'), { className: 'error', id: `${name}-error` });
    if (hint) hint.after(error);
    else box.append(error);
  }
  if (error.textContent.trim() !== text) error.replaceChildren(...(text ? [icon('error'), text] : []));
  error.hidden = !text;
  if (hint) hint.hidden = Boolean(text);
  if (text || hint) part?.setAttribute('aria-describedby', `${name}-${text ? 'error' : 'hint'}`);
  else part?.removeAttribute('aria-describedby');
  const field = document.getElementById(name);
  if (!field) return;
  if (text) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
}

// What the line of a name is about: its field, or the group that holds nothing but its choices.
function described(name) {
  const known = document.querySelector(`[aria-describedby="${name}-hint"], [aria-describedby="${name}-error"]`);
  if (known) return known;
  const field = document.getElementById(name);
  if (field?.labels) return field;
  const group = document.querySelector(`form[data-preview] [name="${name}"]`)?.closest('fieldset.field');
  return group && [...group.elements].every((choice) => choice.name === name) ? group : null;
}

/** A symbol of the page's own set of icons. */
function icon(symbol) {
  const [svg, use] = ['svg', 'use'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name));
  const set = document.querySelector('.icon use')?.getAttribute('href').split('#')[0];
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `${set}#${symbol}`);
  svg.append(use);
  return svg;
}
