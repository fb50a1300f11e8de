// Serves a page to a browser and waits for what it reports.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { memoryOf, openBrowser } from './browsers.mjs'

const MAX_MILLISECONDS = 180_000

const TYPES = { html: 'text/html', js: 'text/javascript', json: 'application/json' }
const typeOf = name => TYPES[name.split('.').at(-1)] ?? 'application/octet-stream'

async function bodyOf(request) {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/**
 * Has a browser open `index.html` (or install an extension) and gives what the page posts to `report`, with the
 * megabytes of the browser at each post to `memory`. `where.json` tells the page where to post.
 * @param {string} browserName one of BROWSERS
 * @param {object} how `contentOf` gives a file by its name; `extensionOf` writes an extension and gives its folder
 */
export async function reportFrom(browserName, { contentOf, headers = {}, at, extensionOf }) {
  const memory = []
  const server = createServer()
  await new Promise(resolve => server.listen(0, 'localhost', resolve))
  const address = `http://localhost:${server.address().port}/`
  const where = JSON.stringify({ address })
  let browser
  let timer
  const report = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no report after ${MAX_MILLISECONDS} ms`)), MAX_MILLISECONDS)
    server.on('request', async (request, response) => {
      const name = decodeURIComponent(new URL(request.url, address).pathname).slice(1) || 'index.html'
      let content = ''
      if (request.method === 'POST') {
        const body = await bodyOf(request)
        if (name === 'memory') memory.push(memoryOf(browser.group))
        else resolve({ ...JSON.parse(body), ...(memory.length > 0 && { megabytes: memory }) })
      } else content = name === 'where.json' ? where : contentOf(name)
      const own = { 'Content-Type': typeOf(name), 'Access-Control-Allow-Origin': '*' }
      response.writeHead(content === undefined ? 404 : 200, { ...own, ...headers }).end(content)
    })
  })
  try {
    const extension = extensionOf?.(where)
    const url = extension ? 'about:blank' : address
    browser = openBrowser(browserName, { profile: join(at, 'profile'), url, extension })
    return await Promise.race([report, browser.failed])
  } finally {
    clearTimeout(timer)
    server.close()
    await browser?.end()
    server.closeAllConnections()
  }
}
