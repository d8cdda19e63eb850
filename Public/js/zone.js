// The send form's time zones: all that the browser knows, and its own until somebody chooses another one.

// In the server's order: UTC above the others.
const rank = ({ value }) => (value.includes('/') ? value : '');

/** Fills the list of zones, and presets the one with data-own-zone. */
export function presetZone() {
  const list = document.querySelector('select[name=time_zone]');
  if (!list) return;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  fill(list, [...Intl.supportedValuesOf?.('timeZone') ?? [], zone]);
  // A browser whose zone has no name.
  if (!('ownZone' in list.dataset) || ![...list.options].some((option) => option.value === zone)) return;
  for (const option of list.options) option.defaultSelected = option.value === zone;
  list.value = zone;
}

function fill(list, names) {
  const { value } = list;
  const known = new Set([...list.options].map((option) => option.value));
  // Some have former names, as browsers still give them: the server knows these.
  const fresh = [...new Set(names)].filter((name) => name?.includes('/') && !known.has(name));
  const options = [...list.options, ...fresh.map((name) => new Option(name.replaceAll('_', ' '), name))];
  list.replaceChildren(...options.sort((one, other) => (rank(one) < rank(other) ? -1 : 1)));
  list.value = value;
}
