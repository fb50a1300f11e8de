// Serves a page that looks rows up in a table of 10 GB: node examples/remote-table/serve-page.js [PORT] [LATENCY in ms]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { serveFolder } from './serve.js'
import { writeTable } from './table.js'

const file = name => fileURLToPath(new URL(name, import.meta.url))

const [port = '8080', latency = '20'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'table-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit())
writeTable(folder)

/** Any bundler does; `nodewise` imports no module of Node. */
const { outputFiles } = buildSync({
  entryPoints: [file('page.js')],
  bundle: true,
  format: 'esm',
  minify: true,
  write: false,
  tsconfigRaw: '{}'
})
const pages = {
  '/': ['text/html', () => readFileSync(file('index.html'))],
  '/page.js': ['text/javascript', () => outputFiles[0].contents]
}
const server = serveFolder(folder, { latency: Number(latency), pages })
server.listen(Number(port), 'localhost', () => console.log(`http://localhost:${server.address().port}`))
