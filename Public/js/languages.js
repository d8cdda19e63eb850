// The send form's other languages: rows come and go without a reload.

const section = (form) => form.querySelector('#more-languages');
const rows = (form) => [...form.querySelectorAll('[data-language]')];

/** Adds and removes rows. */
export function startLanguages() {
  const form = document.querySelector('form[data-preview]');
  const part = form && section(form);
  part?.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    event.preventDefault();
    const row = button.closest('[data-language]');
    if (row) row.remove();
    (row ? part.querySelector('[name=add_language]') : add(form).querySelector('input')).focus();
    form.dispatchEvent(new Event('input', { bubbles: true }));
  });
  // Discarded: it loses the rows that it did not come with.
  form?.addEventListener('reset', () => rows(form).forEach((row) => { if ('added' in row.dataset) row.remove(); }));
}

/** Makes the rows that kept values are for. */
export function makeRows(form, names) {
  for (const number of new Set(names.map((name) => /^localization\.(\d+)\./.exec(name)?.[1]))) {
    if (number && !rows(form).some((row) => row.dataset.language === number)) add(form, number);
  }
}

function add(form, number = Math.max(0, ...rows(form).map((row) => row.dataset.language)) + 1) {
  const template = section(form).querySelector('template');
  const row = template.content.firstElementChild.cloneNode(true);
  for (const element of row.querySelectorAll('*')) {
    for (const attribute of element.attributes) attribute.value = attribute.value.replace('n.N.', `n.${number}.`);
  }
  row.dataset.language = number;
  row.dataset.added = '';
  const legend = row.querySelector('legend');
  legend.textContent = legend.textContent.replace('N', number);
  template.before(row);
  return row;
}
