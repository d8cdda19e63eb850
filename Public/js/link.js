// The page of a one-time link. Its token stands in the fragment of the address, which browsers send to nobody.

const field = document.querySelector('form[action$="/session/link"] [name="token"]');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (field && token) {
  field.value = token;
  // Whoever looks through the history later does not find it.
  history.replaceState(null, '', location.pathname);
  field.form.requestSubmit();
}
