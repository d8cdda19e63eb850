// The send form's time zone: the browser's own, as long as nobody has chosen one.

/** Presets the list with data-own-zone. */
export function presetZone() {
  const list = document.querySelector('select[data-own-zone]');
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!list || !zone) return;
  // A former name of a zone, as browsers still give some: the server knows it.
  if (![...list.options].some((option) => option.value === zone)) {
    if (!zone.includes('/')) return;
    list.add(new Option(zone.replaceAll('_', ' '), zone));
  }
  for (const option of list.options) option.defaultSelected = option.value === zone;
  list.value = zone;
}
