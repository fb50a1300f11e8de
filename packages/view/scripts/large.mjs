// How a page of a browser opens a model of 100,000 nodes: time to the first picture, frames while the picture is moved
// and zoomed, memory. The page is built before (`npm run build`, or `npx vite build` in this folder).
//   node packages/view/scripts/large.mjs [chromium|firefox] [--kind nested|blocks|chain|wide] [--nodes N]
//     [--seconds N] [--page FOLDER] [--json]
// kinds: `nested` has names in two levels of groups, `blocks` is what exporters write of many like layers, and two have
// names without groups: a chain, and nodes side by side.
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { launch } from 'puppeteer-core'
import { writeOnnxBlocks } from '../../../bench/blocks.mjs'
import { node, port, writeOnnx } from '../../../scripts/models/onnx.mjs'
import { openAndMeasure, pan } from './in-page.mjs'
import { differenceOf, isTold, memoryOf, processorTimeOf } from './processes.mjs'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kind: { type: 'string', default: 'nested' },
    nodes: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '5' },
    page: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
    json: { type: 'boolean', default: false }
  }
})
const [browserName = 'chromium'] = positionals

const BROWSERS = {
  chromium: {
    path: process.env.NODEWISE_BROWSER ?? '/usr/bin/chromium',
    browser: 'chrome',
    args: ['--no-sandbox', '--disable-dev-shm-usage']
  },
  firefox: { path: process.env.NODEWISE_FIREFOX ?? '/usr/bin/firefox-esr', browser: 'firefox', args: [] }
}

const TYPES = ['Relu', 'Neg', 'Add', 'Sigmoid', 'Mul']

/** The value that node `i` reads beside the one before it. */
const secondInput = i => (i > 7 ? `v${i - 7}` : 'x')

const NAMES = {
  nested: (i, type) => `/model/layer.${Math.floor(i / 1000)}/block.${Math.floor(i / 50) % 20}/${type}_${i}`,
  chain: i => `n${i}`,
  wide: i => `n${i}`
}

/** Writes a model of one of the kinds. */
function writeModel(path, kind, count) {
  if (kind === 'blocks') return writeOnnxBlocks(path.replace(/\.onnx$/, ''), count)
  const nodes = Array.from({ length: count }, (_, i) => {
    const type = TYPES[i % TYPES.length]
    const before = i === 0 || kind === 'wide' ? 'x' : `v${i - 1}`
    const inputs = type === 'Add' || type === 'Mul' ? [before, kind === 'wide' ? 'x' : secondInput(i)] : [before]
    return { ...node(type, inputs, [`v${i}`]), name: NAMES[kind](i, type) }
  })
  const outputs = [port(`v${count - 1}`, 'float', ['batch', 64])]
  writeOnnx(path, { name: kind, opset: 17, inputs: [port('x', 'float', ['batch', 64])], outputs, nodes })
}

const CONTENT = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

/** Serves the built page. */
async function servePage() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://page')
    const file = pathname === '/' ? 'index.html' : pathname.slice(1)
    try {
      const bytes = await readFile(join(options.page, file))
      response.writeHead(200, { 'Content-Type': CONTENT[extname(file)] ?? 'application/octet-stream' }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function measure(file) {
  const server = await servePage()
  const { path: executablePath, ...rest } = BROWSERS[browserName]
  const browser = await launch({ executablePath, ...rest })
  try {
    const page = await browser.newPage()
    await page.setViewport({ width: 1280, height: 800 })
    await page.goto(`http://127.0.0.1:${server.address().port}/`)
    const field = await page.waitForSelector('input[type=file]')
    await new Promise(resolve => setTimeout(resolve, 1500))
    const { pid } = browser.process()
    const before = isTold && { memory: memoryOf(pid), times: processorTimeOf(pid) }
    await page.evaluate(openAndMeasure)
    await field.uploadFile(file)
    await page.waitForFunction(() => globalThis.measured.first !== undefined, { timeout: 120_000, polling: 50 })
    const seconds = Number(options.seconds)
    const found = { frames: {} }
    if (isTold) found.processor = differenceOf(before.times, processorTimeOf(pid))
    found.frames['while shapes are worked out'] = await page.evaluate(pan, seconds)
    await page.waitForFunction(() => globalThis.measured.facts !== undefined, { timeout: 120_000, polling: 50 })
    Object.assign(found, await page.evaluate(() => globalThis.measured))
    found.frames['groups closed'] = await page.evaluate(pan, seconds)
    await page.evaluate(() =>
      [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Open all').click()
    )
    await new Promise(resolve => setTimeout(resolve, 5000))
    found.frames['groups open'] = await page.evaluate(pan, seconds)
    found.failure = await page.evaluate(() => document.querySelector('.failure')?.textContent ?? '')
    if (isTold) found.memory = { browser: before.memory, model: memoryOf(pid) - before.memory }
    return found
  } finally {
    await browser.close()
    server.close()
  }
}

const ms = number => `${number.toFixed(1)} ms`

function print({ first, facts, frames, memory, processor, failure }) {
  console.log(`${browserName}, ${options.kind}, ${options.nodes} nodes${failure && `: ${failure}`}`)
  console.log(`  first picture ${ms(first)}, all shapes ${ms(facts)} after the file was chosen`)
  if (processor) {
    const parts = Object.entries(processor)
    const sum = parts.reduce((total, [, time]) => total + time, 0)
    const named = parts.slice(0, 6).map(([name, time]) => `${name} ${time}`)
    console.log(`  processor time until the first picture: ${sum} ms (${named.join(', ')})`)
  }
  for (const [when, { count, median, late, worst, work }] of Object.entries(frames))
    console.log(
      `  ${when}: ${count} frames, median ${ms(median)}, 95 % within ${ms(late)}, worst ${ms(worst)}; ` +
        `work of the page a frame ${ms(work.median)}, worst ${ms(work.worst)}`
    )
  if (memory) console.log(`  memory: ${memory.model} MiB for the model, beside ${memory.browser} MiB of the browser`)
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-large-'))
try {
  const file = join(folder, 'large.onnx')
  writeModel(file, options.kind, Number(options.nodes))
  const found = await measure(file)
  if (options.json) console.log(JSON.stringify({ browser: browserName, kind: options.kind, ...found }))
  else print(found)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
