// Serves a page that runs a model in the browser: node examples/browser/serve.js [PORT]
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const file = name => fileURLToPath(new URL(name, import.meta.url))

/**
 * Without these two a browser runs the same, with one thread: pages get memory to share with workers only where no
 * other site is in them.
 */
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp'
}

/** Any bundler does; `nodewise` imports no module of Node. */
const bundle = () =>
  buildSync({
    entryPoints: [file('page.js')],
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    tsconfigRaw: '{}'
  }).outputFiles[0].contents

const pages = {
  '/': ['text/html', () => readFileSync(file('index.html'))],
  '/page.js': ['text/javascript', bundle],
  '/models/language.onnx': ['application/octet-stream', () => readFileSync(file('../../models/language.onnx'))]
}

const server = createServer(({ url }, response) => {
  const [type, content] = pages[url] ?? []
  if (type === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'Content-Type': type, ...ISOLATED }).end(content())
})
server.listen(Number(process.argv[2] ?? 8080), 'localhost', () =>
  console.log(`http://localhost:${server.address().port}`)
)
