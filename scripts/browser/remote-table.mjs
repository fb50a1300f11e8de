// How long a page takes to open a model with a table of 10 GB on its server, which answers after 20 ms, and to look 512
// rows up in it (examples/remote-table), after `npm run build`: the least and the median, each time in a browser that
// was just started. node scripts/browser/remote-table.mjs [BROWSER…] [--times N]; chromium and firefox by default.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { serveFolder } from '../../examples/remote-table/serve.js'
import { writeTable } from '../../examples/remote-table/table.js'
import { versionOf } from './browsers.mjs'
import { reportFrom } from './serve.mjs'

const LATENCY = 20
const example = name => fileURLToPath(new URL(`../../examples/remote-table/${name}`, import.meta.url))

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '5' } }
})

/** The example's page, which then posts what it measured to the address after `#`. */
const SCRIPT = `import './page.js'
const found = await globalThis.lookedUp.catch(error => ({ error: String(error?.stack ?? error) }))
await fetch(location.hash.slice(1) + 'report', { method: 'POST', body: JSON.stringify(found) })`

const bundle = () =>
  buildSync({
    stdin: { contents: SCRIPT, resolveDir: example('.') },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    // Without the paths of tsconfig.json, which lead to src/: what is published is what runs.
    tsconfigRaw: '{}'
  }).outputFiles[0].contents

/** The page has to come from the server of the table, so the browser is sent there. */
async function lookUpIn(browserName, url, at) {
  const contentOf = name =>
    name === 'index.html' ? `<script>location = '${url}#' + location.href</script>` : undefined
  const { error, isRight, ...times } = await reportFrom(browserName, { at, contentOf })
  if (!isRight) throw new Error(error ?? 'a row is wrong')
  return times
}

const show = times => {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round)
  return `${sorted[0]} ms (median ${sorted[sorted.length >> 1]})`
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-table-'))
const script = bundle()
const pages = {
  '/': ['text/html', () => readFileSync(example('index.html'))],
  '/page.js': ['text/javascript', () => script]
}
const server = serveFolder(folder, { latency: LATENCY, pages })
try {
  writeTable(folder)
  await new Promise(resolve => server.listen(0, 'localhost', resolve))
  const url = `http://localhost:${server.address().port}/`
  for (const name of positionals.length > 0 ? positionals : ['chromium', 'firefox']) {
    const found = []
    for (let i = 0; i < Number(options.times); i++) found.push(await lookUpIn(name, url, join(folder, `${name}-${i}`)))
    const [opening, rows] = ['opening', 'lookingUp'].map(what => show(found.map(each => each[what])))
    console.log(`${versionOf(name)}: open ${opening}, 512 rows ${rows}, of ${found.length}`)
  }
} finally {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
