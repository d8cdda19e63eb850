// The list of devices: one box chooses all rows of the page.

document.addEventListener('change', ({ target }) => {
  const form = target.closest('form');
  if (!form) return;
  const rows = [...form.querySelectorAll('input.choose')];
  const all = form.querySelector('[data-choose-all] input');
  if (!all || !rows.length) return;
  if (target === all) rows.forEach((row) => { row.checked = all.checked; });
  const count = rows.filter((row) => row.checked).length;
  all.checked = count === rows.length;
  all.indeterminate = count > 0 && count < rows.length;
});
