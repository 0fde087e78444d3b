// Starts the page.
document.documentElement.dataset.state = 'ready';
