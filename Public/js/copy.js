// Copy buttons. They are hidden in the page, and shown only where copying can work.

import { announce } from './page.js';

const labels = new WeakMap();

/** Shows the copy buttons below `root`. */
export function showCopyButtons(root = document) {
  // The clipboard API is missing on plain http to another host, where many consoles live: the old command works there.
  if (!navigator.clipboard && !document.queryCommandSupported?.('copy')) return;
  root.querySelectorAll('[data-copy]').forEach((button) => { button.hidden = false; });
}

/** Answers clicks on copy buttons, on those too that come later. */
export function listenForCopies() {
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]');
    const source = button && document.querySelector(button.dataset.copy);
    if (!source) return;
    event.preventDefault();
    if (await copy(source.value ?? source.textContent)) say(button);
    // Nothing was copied: leave the text selected, so that one key does it.
    else select(source);
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text) {
  const before = document.activeElement;
  const box = Object.assign(document.createElement('textarea'), { className: 'vh', value: text });
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  before?.focus({ preventScroll: true });
  return done;
}

function select(source) {
  if (source.select) return source.select();
  getSelection().selectAllChildren(source);
}

function say(button) {
  // The icon beside the label stays.
  const text = button.querySelector('[data-label]') ?? button;
  const { label = text.textContent, timer } = labels.get(button) ?? {};
  clearTimeout(timer);
  text.textContent = button.dataset.copied;
  announce(button.dataset.copied);
  labels.set(button, { label, timer: setTimeout(() => {
    text.textContent = label;
    labels.delete(button);
  }, 2000) });
}
