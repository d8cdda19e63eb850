// The undo window: how many seconds are left, counted from when the page was made, whatever this computer's clock says.

import { announce } from './page.js';
import { reloadWhenIdle } from './refresh.js';

/** Counts down in every element with data-countdown, and then reads the page anew. */
function start() {
  document.querySelectorAll('[data-countdown]').forEach(follow);
}

function follow(element) {
  const end = performance.now() + 1000 * Number(element.dataset.countdown);
  // The ring runs down in that time.
  element.parentElement.querySelectorAll('.ring circle').forEach((circle) => {
    circle.style.animationDuration = `${element.dataset.countdown}s`;
  });
  // Once: a live region that counts would speak every second.
  announce(element.textContent.trim());
  const pattern = element.dataset.text ?? '{seconds}';
  const step = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    if (left > 0) {
      const text = pattern.replace('{seconds}', left);
      if (element.textContent !== text) element.textContent = text;
      return;
    }
    clearInterval(timer);
    // Too late for the button; the server looks once a second, so give it that.
    element.parentElement.querySelectorAll('button').forEach((button) => { button.disabled = true; });
    setTimeout(reloadWhenIdle, 1500);
  };
  const timer = setInterval(step, 200);
}

start();
