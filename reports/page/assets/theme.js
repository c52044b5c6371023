// Before anything is painted: the theme that the reader chose, if any.
document.documentElement.classList.add('script');
// A link to something else than the overview must not show the overview first.
if (/^#(cells?|requirements?)\b/.test(location.hash)) document.documentElement.classList.add('opening');
try {
  const theme = localStorage.getItem('skewrig-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser may keep pages that were opened from a file from storing anything.
}
