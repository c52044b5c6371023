// Before anything is painted: the theme that the reader chose, if any.
document.documentElement.classList.add('script');
try {
  const theme = localStorage.getItem('skewrig-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser may keep pages that were opened from a file from storing anything.
}
