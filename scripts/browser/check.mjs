// Runs the package in a real browser, as pages may be served, and prints what it did: node scripts/browser/check.mjs
// [CHROMIUM]
// (or $CHROMIUM; after `npm run build`). Exits with 1 when something is wrong.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { node, port, writeOnnx } from '../models/onnx.mjs'

const CHROMIUM = process.argv[2] ?? process.env.CHROMIUM ?? 'chromium'
const LONGEST = 120_000

const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
const policy = text => ({ 'Content-Security-Policy': text })
const PAGE = '<!doctype html><script type="module" src="page.js"></script>'
const PAGE_WITH_WORKER = '<!doctype html><script type="module" src="worker.js"></script>'

/** How a page may be served, and how many workers it can have then. */
const WAYS = [
  { name: 'cross-origin isolated', headers: ISOLATED, workers: 1 },
  { name: 'not isolated', headers: {}, workers: 0 },
  { name: 'isolated, in a worker', headers: ISOLATED, page: PAGE_WITH_WORKER, workers: 1 },
  {
    name: 'isolated, policy with WebAssembly and blobs',
    headers: { ...ISOLATED, ...policy("script-src 'self' 'wasm-unsafe-eval'; worker-src blob:") },
    workers: 1
  },
  {
    name: 'isolated, policy without blobs',
    headers: { ...ISOLATED, ...policy("script-src 'self' 'wasm-unsafe-eval'") },
    workers: 0
  },
  { name: 'isolated, policy without WebAssembly', headers: { ...ISOLATED, ...policy("script-src 'self'") }, workers: 0 }
]

const here = name => fileURLToPath(new URL(name, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'nodewise-browser-'))

function filesOf() {
  const path = join(folder, 'gather.onnx')
  const [data, indices, out] = [
    port('data', 'float', ['rows', 'width']),
    port('indices', 'int64', ['n']),
    port('out', 'float', ['n', 'width'])
  ]
  writeOnnx(path, {
    name: 'gather',
    opset: 17,
    inputs: [data, indices],
    outputs: [out],
    nodes: [node('Gather', ['data', 'indices'], ['out'])]
  })
  // Without the paths of tsconfig.json, which lead to src/: what is published is what runs.
  const { outputFiles } = buildSync({
    entryPoints: [here('page.js')],
    bundle: true,
    format: 'esm',
    write: false,
    tsconfigRaw: '{}'
  })
  const models = ['palette.onnx', 'palette.xml', 'palette.bin'].map(name => [
    `/${name}`,
    readFileSync(here(`../../models/${name}`))
  ])
  return {
    ...Object.fromEntries(models),
    '/gather.onnx': readFileSync(path),
    '/page.js': outputFiles[0].contents,
    '/worker.js': "new Worker('page.js', { type: 'module' })"
  }
}

/** Serves a page, has the browser open it, and waits for its report. */
function reportOf({ headers, page = PAGE }, files) {
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      if (request.method === 'POST') {
        let body = ''
        request
          .on('data', piece => {
            body += piece
          })
          .on('end', () => {
            response.end()
            finish(() => resolve(JSON.parse(body)))
          })
        return
      }
      const content = request.url === '/' ? page : files[request.url]
      const type =
        request.url === '/' ? 'text/html' : request.url.endsWith('.js') ? 'text/javascript' : 'application/octet-stream'
      response.writeHead(content === undefined ? 404 : 200, { 'Content-Type': type, ...headers }).end(content)
    })
    let browser
    const timer = setTimeout(() => finish(() => reject(new Error(`no report after ${LONGEST} ms`))), LONGEST)
    const finish = settle => {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
      browser.once('exit', settle)
      process.kill(-browser.pid)
    }
    server.listen(0, 'localhost', () => {
      const options = [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        `--user-data-dir=${join(folder, 'profile')}`
      ]
      // A group of its own, so that all of its processes can be ended.
      browser = spawn(CHROMIUM, [...options, `http://localhost:${server.address().port}/`], {
        stdio: 'ignore',
        detached: true
      })
      browser.on('error', reject)
    })
  })
}

try {
  const files = filesOf()
  console.log(spawnSync(CHROMIUM, ['--version'], { encoding: 'utf8' }).stdout.trim())
  for (const way of WAYS) {
    const report = await reportOf(way, files)
    if (report.workers < way.workers || way.workers > 0 !== report.woken > 0)
      report.wrong.push(`${report.workers} workers, woken ${report.woken} times`)
    console.log(way.name, report)
    if (report.wrong.length > 0) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
