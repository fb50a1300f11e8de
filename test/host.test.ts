import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { isZen5, namesZen5 } from '../src/host.ts'
import { layer, net } from './openvino/ir.ts'

/**
 * What a browser has not, taken away; and what it has besides, and how it differs. Node loads its MessageEvent, which
 * needs Buffer, when it is first asked for: by the first message of a worker otherwise.
 */
const BROWSER = `
void globalThis.MessageEvent
delete globalThis.process
delete globalThis.Buffer
delete globalThis.setImmediate
globalThis.location = new URL('https://site.test/page/')
globalThis.navigator ??= { hardwareConcurrency: 2 }
globalThis.crossOriginIsolated = false
{
  const { decode } = TextDecoder.prototype
  TextDecoder.prototype.decode = function (bytes) {
    if (bytes.buffer instanceof SharedArrayBuffer) throw new TypeError('shared memory')
    return decode.call(this, bytes)
  }
}
`

const folder = mkdtempSync(join(tmpdir(), 'nodewise-host-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made: string | undefined

/** The file of the package as a bundler makes it for browsers, which is made once. */
function bundle(): string {
  if (made !== undefined) return made
  const outfile = join(folder, 'index.mjs')
  buildSync({
    entryPoints: ['src/index.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    outfile,
    banner: { js: BROWSER }
  })
  return (made = outfile)
}

/** Runs code that imports the package as in a browser; what it prints. */
const runInBrowser = (code: string): string =>
  execFileSync(process.execPath, ['--input-type=module', '-'], {
    input: code.replace('./src/index.ts', pathToFileURL(bundle()).href),
    encoding: 'utf8',
    timeout: 50_000
  })

test('a bundle for browsers needs no module of Node', () => {
  // One that is imported could not be resolved.
  expect(bundle).not.toThrow()
})

test('without anything of Node a model runs, small and with memory of the kernels, and is walked', () => {
  const xml = net(
    [
      layer(0, 'Parameter', { name: 'data', data: 'shape="?,?" element_type="f32"', out: ['0:FP32[-1,-1]'] }),
      layer(1, 'Parameter', { name: 'ids', data: 'shape="?" element_type="i64"', out: ['0:I64[-1]'] }),
      layer(2, 'Const', { name: 'axis', data: 'element_type="i64" shape="" offset="0" size="8"', out: ['0:I64'] }),
      layer(3, 'Gather', {
        version: 'opset8',
        data: 'batch_dims="0"',
        in: ['0:FP32[-1,-1]', '1:I64[-1]', '2:I64'],
        out: ['3:FP32[-1,-1]'],
        names: 'rows'
      }),
      layer(4, 'Result', { in: ['0:FP32[-1,-1]'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0']
  )
  const printed = runInBrowser(`
    import { InferenceSession, Tensor } from './src/index.ts'
    const xml = new TextEncoder().encode(${JSON.stringify(xml)})
    const session = await InferenceSession.create({ xml, bin: new Uint8Array(8) })
    for (const [rows, width, count] of [[3, 2, 2], [500, 100, 20000]]) {
      const data = session.allocate('float32', [rows, width])
      data.data.forEach((_, i) => { data.data[i] = i })
      const ids = new Tensor('int64', BigInt64Array.from({ length: count }, (_, i) => BigInt(i * 7 % rows)), [count])
      const { rows: out } = await session.run({ data, ids })
      const isRight = (value, i) => value === Math.floor(i / width) * 7 % rows * width + i % width
      console.log(out.dims.join(), out.data.every(isRight))
    }
    const data = new Tensor('float32', [1, 2], [2, 1])
    for await (const { node } of session.walk({ data, ids: new Tensor('int64', [1n], [1]) })) console.log(node.type)
  `)
  expect(printed).toBe('2,2 true\n20000,100 true\nGather\n')
})

test('in a browser a text is a URL beside the page, and one that leads nowhere is a missing file', () => {
  const bare =
    '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>' +
    '<output><port id="0"/></output></layer>'
  const printed = runInBrowser(`
    import { load } from './src/index.ts'
    const answer = (status, text) => {
      const pieces = [{ value: new TextEncoder().encode(text) }, { done: true }]
      const body = { getReader: () => ({ read: async () => pieces.shift() }) }
      return { ok: status === 200, status, statusText: '', headers: { get: () => null, has: () => false }, body }
    }
    globalThis.fetch = async ({ href }) => href === 'https://site.test/page/models/x.xml'
      ? answer(200, ${JSON.stringify(bare)})
      : answer(404, '')
    console.log((await load('models/x.xml')).graph.nodes.length, (await load('../page/models/x.xml')).file)
    const tell = ({ code, reason }) => console.log(code, reason)
    for (const url of ['x.xml', 'file:///models/x.xml', 'https://[']) await load(url).catch(tell)
  `)
  expect(printed.trim().split('\n')).toEqual([
    '1 https://site.test/page/models/x.xml',
    'missing-file the server answers 404',
    'missing-file the answer is 404',
    'missing-file "https://[" is no URL'
  ])
})

test('strings are cut out of memory of the kernels where text decoders take none that is shared', () => {
  const xml = net(
    [
      layer(0, 'Parameter', { name: 'begins', data: 'shape="?" element_type="i64"', out: ['0:I64[-1]'] }),
      layer(1, 'Parameter', { name: 'ends', data: 'shape="?" element_type="i64"', out: ['0:I64[-1]'] }),
      layer(2, 'Parameter', { name: 'symbols', data: 'shape="?" element_type="u8"', out: ['0:U8[-1]'] }),
      layer(3, 'StringTensorPack', {
        version: 'opset15',
        in: ['0:I64[-1]', '1:I64[-1]', '2:U8[-1]'],
        out: ['3:STRING[-1]'],
        names: 'text'
      }),
      layer(4, 'Result', { in: ['0:STRING[-1]'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0']
  )
  const printed = runInBrowser(`
    import { InferenceSession, Tensor } from './src/index.ts'
    const session = await InferenceSession.create(new TextEncoder().encode(${JSON.stringify(xml)}))
    const symbols = session.allocate('uint8', [8192])
    symbols.data.set([104, 105], 4000)
    const at = (...places) => new Tensor('int64', BigInt64Array.from(places, BigInt), [places.length])
    const { text } = await session.run({ begins: at(4000, 4001), ends: at(4002, 4002), symbols })
    console.log(symbols.data.buffer instanceof SharedArrayBuffer, text.data.join())
  `)
  expect(printed).toBe('true hi,i\n')
})

const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }

test.skipIf(header.glibcVersionRuntime === undefined)('what the collector frees serves for later arrays', () => {
  const outfile = join(folder, 'arrays.mjs')
  buildSync({ entryPoints: ['src/tensor/arrays.ts'], bundle: true, platform: 'node', format: 'esm', outfile })
  const program = `
    import { rawArray } from '${pathToFileURL(outfile).href}'
    const faults = () => process.resourceUsage().minorPageFault
    rawArray(Uint8Array, 1 << 16)
    for (let round = 0; round < 6; round++) {
      gc()
      await new Promise(resolve => setTimeout(resolve, 20))
      const before = faults()
      for (let i = 0; i < 3; i++) rawArray(Uint8Array, 1 << 23).fill(1)
      console.log(faults() - before)
    }`
  const printed = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-'], {
    input: program,
    encoding: 'utf8',
    timeout: 50_000
  })
  // Pages of 4 KiB, if the system gives no larger ones.
  const [, ...later] = printed.trim().split('\n').map(Number)
  expect(later.length).toBe(5)
  expect(Math.min(...later)).toBeLessThan((3 * 2 ** 23) / 2 ** 12 / 4)
})

test.each([
  ['processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n', true],
  ['processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n', false],
  ['processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 26\nmodel\t\t: 143\n', false],
  ['AMD64 Family 26 Model 68 Stepping 0, AuthenticAMD', true],
  ['AMD64 Family 25 Model 33 Stepping 2, AuthenticAMD', false],
  ['', false]
])('%j is of Zen 5 or newer: %s', (text, expected) => {
  expect(namesZen5(text)).toBe(expected)
})

test('the processor of this machine is of Zen 5 where its system says so', () => {
  const text = process.platform === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : process.env.PROCESSOR_IDENTIFIER
  expect(isZen5()).toBe(namesZen5(text ?? ''))
})
