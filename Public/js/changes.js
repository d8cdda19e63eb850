// Whether a field of a form is as the server wrote it.

/** Whether somebody changed it, or the browser filled it in. */
export function isChanged(field) {
  if (field.localName === 'select') {
    const own = [...field.options].find((one) => one.defaultSelected) ?? field.options[0];
    return !own?.selected;
  }
  if (field.type === 'radio' || field.type === 'checkbox') return field.checked !== field.defaultChecked;
  return field.type !== 'hidden' && 'defaultValue' in field && field.value !== field.defaultValue;
}
