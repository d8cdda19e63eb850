// Passkeys. The browser's answer goes into hidden fields of the button's form, which is then sent like any other.

import { base } from './page.js';

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer ?? [])))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** Shows the buttons, which are hidden in the page: where passkeys cannot work, nobody has a use for them. */
function start() {
  // A passkey belongs to a host name; an IP address is none (Web Authentication Level 2, §5.1.3).
  if (!window.isSecureContext || /^[\d.]+$|:/.test(location.hostname)) {
    for (const hint of document.querySelectorAll('[data-passkey-nowhere]')) hint.hidden = false;
    return;
  }
  if (!window.PublicKeyCredential) return;
  for (const part of document.querySelectorAll('[data-passkey-part]')) part.hidden = false;
  for (const button of document.querySelectorAll('[data-passkey]')) button.addEventListener('click', () => ask(button));
}

async function ask(button) {
  const { form } = button;
  const problem = form.querySelector('[data-passkey-problem]');
  problem.hidden = true;
  button.disabled = true;
  try {
    const answer = await fetch(`${base}/session/passkey`, { credentials: 'same-origin' });
    const asked = await answer.json();
    const fields = button.dataset.passkey === 'create' ? await create(button, asked) : await get(asked);
    for (const [name, value] of Object.entries(fields)) form.elements[name].value = value;
    // Without the checks of fields that are for the password.
    form.submit();
  } catch {
    problem.hidden = false;
  } finally {
    button.disabled = false;
  }
}

async function create({ dataset }, { challenge, relying_party: id, algorithms }) {
  const known = dataset.known.split(' ').filter(Boolean);
  const { response } = await navigator.credentials.create({
    publicKey: {
      challenge: bytes(challenge),
      rp: { id, name: 'Signalbox' },
      user: { id: bytes(dataset.handle), name: dataset.account, displayName: dataset.account },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      excludeCredentials: known.map((one) => ({ type: 'public-key', id: bytes(one) })),
      attestation: 'none',
    },
  });
  return { attested_data: text(response.clientDataJSON), attestation: text(response.attestationObject) };
}

async function get({ challenge, relying_party: rpId }) {
  const { rawId, response } = await navigator.credentials.get({
    publicKey: { challenge: bytes(challenge), rpId, userVerification: 'required' },
  });
  return {
    passkey: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.authenticatorData),
    signature: text(response.signature),
    user_handle: text(response.userHandle),
  };
}

start();
