// Runs before the page: closes the network but for the page's own host and, where the page was asked to open a model
// at an address, that address's host. A policy only ever closes; so it is written once, here, and the address to open
// is in the page's own address.
;(() => {
  const hosts = ["'self'"]
  try {
    const { origin, protocol } = new URL(new URLSearchParams(location.search).get('url'), location.href)
    if (/^https?:$/.test(protocol) && origin !== location.origin) hosts.push(origin)
  } catch {
    // No address to open.
  }
  const policy = document.createElement('meta')
  policy.httpEquiv = 'Content-Security-Policy'
  policy.content = `connect-src ${hosts.join(' ')}`
  document.head.append(policy)
  try {
    const theme = localStorage.getItem('nodewise-theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // A page without storage follows the system.
  }
})()
