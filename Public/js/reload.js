// Reloads a page whose work goes on, as its <noscript> does without a script.
setTimeout(() => location.reload(), 2000);
