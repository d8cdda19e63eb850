// The texts in other languages on the send form: rows come and go without a reload.

const prefix = /^localization\.(\d+)\./;

const section = (form) => form.querySelector('[data-languages]');
const rows = (form) => [...form.querySelectorAll('[data-language]')];

/** Lets the buttons of the form with data-preview add and remove rows. */
export function startLanguages() {
  const form = document.querySelector('form[data-preview]');
  const part = form && section(form);
  if (!part) return;
  part.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    event.preventDefault();
    if ('languageAdd' in button.dataset) add(form).querySelector('input').focus();
    else if ('languageRemove' in button.dataset) remove(form, button.closest('[data-language]'));
    form.dispatchEvent(new Event('input', { bubbles: true }));
  });
  // A form that is discarded loses the rows that it did not come with.
  form.addEventListener('reset', () => rows(form).forEach((row) => { if ('added' in row.dataset) row.remove(); }));
}

/** Makes the rows that kept values are for. */
export function makeRows(form, names) {
  if (!section(form)) return;
  const known = new Set(rows(form).map((row) => row.dataset.language));
  const wanted = names.map((name) => prefix.exec(name)?.[1]).filter((number) => number && !known.has(number));
  [...new Set(wanted)].forEach((number) => add(form, number));
}

function add(form, number = String(Math.max(0, ...rows(form).map((row) => Number(row.dataset.language))) + 1)) {
  const template = section(form).querySelector('template');
  const row = template.content.firstElementChild.cloneNode(true);
  for (const element of [row, ...row.querySelectorAll('*')]) {
    for (const attribute of element.attributes) {
      attribute.value = attribute.value.replaceAll('localization.N.', `localization.${number}.`);
    }
  }
  row.dataset.language = number;
  row.dataset.added = '';
  const legend = row.querySelector('legend');
  legend.textContent = legend.textContent.replace(/N$/, number);
  row.querySelector('[data-language-remove]').value = number;
  template.before(row);
  return row;
}

function remove(form, row) {
  row.remove();
  section(form).querySelector('[data-language-add]').focus();
}
