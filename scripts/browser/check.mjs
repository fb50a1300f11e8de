// Runs the package in real browsers, as pages may be served, and prints what it did, after `npm run build`:
// node scripts/browser/check.mjs [BROWSER…] [--only REGEX]; chromium and firefox ($CHROMIUM, $FIREFOX) by default;
// webkit ($WEBKIT) is WebKitGTK's MiniBrowser.
// Exits with 1 when something is wrong.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { node, port, writeOnnx } from '../models/onnx.mjs'
import { BROWSERS, versionOf, writeManifest } from './browsers.mjs'
import { reportFrom } from './serve.mjs'

/** How much the memory of a browser may grow from the second part of a soak to its last, in MB. */
const GROWTH = 48

const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
const policy = text => ({ 'Content-Security-Policy': text })
const page = script => `<!doctype html><script type="module" src="${script}"></script>`

/** How a page may be served, and how many workers it can have then. */
const WAYS = [
  { name: 'cross-origin isolated', headers: ISOLATED, workers: 1 },
  { name: 'not isolated' },
  { name: 'isolated, in a worker', headers: ISOLATED, script: 'worker.js', workers: 1 },
  { name: 'not isolated, in a worker', script: 'worker.js' },
  { name: 'in a service worker', script: 'register.js' },
  {
    name: 'isolated, policy with WebAssembly and blobs',
    headers: { ...ISOLATED, ...policy("script-src 'self' 'wasm-unsafe-eval'; worker-src blob:") },
    workers: 1
  },
  {
    name: 'isolated, policy without blobs',
    headers: { ...ISOLATED, ...policy("script-src 'self' 'wasm-unsafe-eval'") }
  },
  { name: 'isolated, policy without WebAssembly', headers: { ...ISOLATED, ...policy("script-src 'self'") } },
  { name: 'page of an extension', extension: { policy: '' } },
  {
    name: 'page of an extension, policy with WebAssembly',
    extension: { policy: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'" }
  },
  { name: '200 sessions and 10,000 runs', headers: ISOLATED, script: 'soak.js' }
]

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } }
})
const here = name => fileURLToPath(new URL(name, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'nodewise-browser-'))

/** A script of one piece. Without the paths of tsconfig.json, which lead to src/: what is published is what runs. */
const bundle = (contents, format = 'esm') =>
  buildSync({
    stdin: { contents, resolveDir: here('.') },
    bundle: true,
    format,
    write: false,
    tsconfigRaw: '{}'
  }).outputFiles[0].contents

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
  const models = ['palette.onnx', 'palette.xml', 'palette.bin'].map(name => [
    name,
    readFileSync(here(`../../models/${name}`))
  ])
  const all = "import { reportOn, runAll } from './runs.js'\n"
  return {
    ...Object.fromEntries(models),
    'gather.onnx': readFileSync(path),
    'page.js': bundle(`${all}await reportOn(runAll)`),
    'worker.js': "new Worker('page.js', { type: 'module' })",
    'register.js': "await navigator.serviceWorker.register('service-worker.js')",
    'service-worker.js': bundle(
      `${all}addEventListener('install', event => event.waitUntil(reportOn(runAll)))`,
      'iife'
    ),
    'soak.js': bundle("import { reportOn } from './runs.js'\nimport { soak } from './soak.js'\nawait reportOn(soak)")
  }
}

/** Writes an extension that has the files. */
function writeExtension(files, text, at) {
  mkdirSync(at, { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(at, name), content)
  writeManifest(at, text)
  return at
}

function reportOf(browserName, { headers, script = 'page.js', extension }, files, at) {
  const served = { ...files, 'index.html': page(script) }
  return reportFrom(browserName, {
    headers,
    at,
    contentOf: name => served[name],
    extensionOf:
      extension &&
      (where => writeExtension({ ...served, 'where.json': where }, extension.policy, join(at, 'extension')))
  })
}

/** What is wrong beside what the page found out itself. */
function judge({ workers: wanted = 0 }, report) {
  if (report.workers < wanted || wanted > 0 !== report.woken > 0)
    report.wrong.push(`${report.workers} workers, woken ${report.woken} times`)
  const [, second, ...rest] = report.megabytes ?? []
  if (rest.length > 0 && rest.at(-1) - second > GROWTH) report.wrong.push('the memory grows')
  return report
}

try {
  const files = filesOf()
  for (const name of positionals.length > 0 ? positionals : ['chromium', 'firefox']) {
    console.log(versionOf(name) ?? `${name} is not installed`)
    for (const [i, way] of WAYS.entries()) {
      if (!new RegExp(options.only).test(way.name) || (way.extension && !BROWSERS[name].extensions)) continue
      const report = await reportOf(name, way, files, join(folder, `${name}-${i}`)).then(
        each => judge(way, each),
        error => ({ wrong: [error.message] })
      )
      console.log(way.name, report)
      if (report.wrong.length > 0) process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
