// Runs the operator tests of onnxruntime-web (js/web/test/data/ops of its repository) and counts what passes:
//   node scripts/peers/onnxruntime-ops.mjs FOLDER [--with PLACE] [--filter REGEX]
// FOLDER holds the *.jsonc files. In the node_modules of PLACE is `onnxruntime-node`: that of onnxruntime, to
// learn what onnxruntime itself passes, or nodewise-onnxruntime. Without it `nodewise/onnxruntime` of this package is
// taken, after `npm run build`. The models are made as the runner of onnxruntime-web makes them, and its tolerances
// hold.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { node, onnxBytes, port } from '../models/onnx.mjs'

/** Of onnxruntime-web's engine in WebAssembly: an absolute difference, or a ratio. */
const ABSOLUTE = 1e-4
const RATIO = 1.000001
/** The opset of tests that name none: the newest that has tests of nodes in onnxruntime-web. */
const NEWEST_OPSET = 21
/** Names of onnxruntime-common and of ONNX differ for these. */
const ONNX_TYPES = { float32: 'float', float64: 'double' }

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { with: { type: 'string' }, filter: { type: 'string', default: '' } }
})
const ort = options.with
  ? createRequire(join(resolve(options.with), 'x.js'))('onnxruntime-node')
  : await import('nodewise/onnxruntime')

/** JSON with comments and with commas after last elements. */
const parse = text =>
  JSON.parse(
    text
      .replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
      .replace(/("(?:\\.|[^"\\])*")|,(?=\s*[\]}])/g, '$1')
  )

const single = new Float32Array(1)
const bitsOf = new Uint32Array(single.buffer)

/** The bits of a number as float16, rounded to even. Rounds twice, which matters to no number of the tests. */
function toHalf(value) {
  single[0] = value
  const [bits] = bitsOf
  const sign = (bits >>> 16) & 0x8000
  const size = Math.abs(single[0])
  if (Number.isNaN(value)) return 0x7e00
  if (size >= 65520) return sign | 0x7c00
  const exponent = Math.max(-14, Math.floor(Math.log2(size || 1e-9)))
  const scaled = size / 2 ** (exponent - 10)
  const even = Math.floor(scaled) + (scaled % 1 > 0.5 || (scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 1) ? 1 : 0)
  return sign | (even < 1024 ? even : ((exponent + 14) << 10) + even)
}

function fromHalf(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction)
}

/** The elements of a test as onnxruntime-common holds them. */
function elementsOf(type, data, count) {
  if (type === 'int64') return BigInt64Array.from(data.map(BigInt))
  if (type === 'uint64') return BigUint64Array.from(data.map(BigInt))
  if (type === 'float16') {
    const bits = Uint16Array.from(data, toHalf)
    return globalThis.Float16Array ? new globalThis.Float16Array(bits.buffer) : bits
  }
  if (type !== 'int4' && type !== 'uint4') return data
  const packed = new Uint8Array(Math.ceil(count / 2))
  for (const [i, value] of data.entries()) packed[i >> 1] |= value << ((i & 1) * 4)
  return packed
}

const tensorOf = ({ type, data, dims }) =>
  new ort.Tensor(
    type,
    elementsOf(
      type,
      data,
      dims.reduce((a, b) => a * b, 1)
    ),
    dims
  )

const numbersOf = ({ type, data }) =>
  type === 'float16' && data instanceof Uint16Array ? Array.from(data, fromHalf) : Array.from(data)

const isNear = (a, b) =>
  Object.is(a, b) ||
  a === b ||
  (Number.isFinite(a) &&
    Number.isFinite(b) &&
    (Math.abs(a - b) < ABSOLUTE || (a !== 0 && b !== 0 && a / b < RATIO && b / a < RATIO)))

/** Why a result is not what a test expects; nothing where it is. */
function fault(actual, expected) {
  if (actual.type !== expected.type || `${actual.dims}` !== `${expected.dims}`)
    return `${actual.type}[${actual.dims}] in place of ${expected.type}[${expected.dims}]`
  const [got, wanted] = [numbersOf(actual), numbersOf(expected)]
  const same = actual.type.startsWith('float') ? isNear : (a, b) => a === b
  const at = wanted.findIndex((value, i) => !same(got[i], value))
  return at < 0 ? undefined : `element ${at}: ${got[at]} in place of ${wanted[at]}`
}

/** Dims that the model declares for its inputs, as a test asks for them. */
function declaredDims({ inputShapeDefinitions: asked, cases: [first] }, i) {
  if (Array.isArray(asked)) return asked[i]
  const { dims } = first.inputs[i]
  return { rankOnly: dims?.map((_, axis) => `_input_${i}_d${axis}`), static: dims }[asked]
}

function modelOf(test) {
  const { domain, version } = test.opset ?? { domain: '', version: NEWEST_OPSET }
  const [{ inputs, outputs }] = test.cases
  const named = (list, prefix) => list.map(({ data }, i) => (data ? `${prefix}_${i}` : ''))
  const ports = (list, prefix, dimsOf) =>
    list.flatMap(({ data, type }, i) =>
      data ? [port(`${prefix}_${i}`, ONNX_TYPES[type] ?? type, dimsOf?.(test, i))] : []
    )
  const attributes = Object.fromEntries((test.attributes ?? []).map(({ name, type, data }) => [name, { [type]: data }]))
  return onnxBytes({
    name: test.name,
    opset: domain ? NEWEST_OPSET : version,
    domains: domain ? { [domain]: version } : {},
    inputs: ports(inputs, 'input', declaredDims),
    outputs: ports(outputs, 'output'),
    nodes: [node(test.operator, named(inputs, 'input'), named(outputs, 'output'), attributes, domain)]
  })
}

async function runCase(session, { inputs, outputs }) {
  const given = (list, prefix) => list.flatMap((each, i) => (each.data ? [[`${prefix}_${i}`, tensorOf(each)]] : []))
  const results = await session.run(Object.fromEntries(given(inputs, 'input')))
  for (const [name, expected] of given(outputs, 'output')) {
    const why = fault(results[name], expected)
    if (why) throw new Error(why)
  }
}

/** Runs all cases of a test on one session; calls back with why each failed, or nothing. */
async function runTest(test, settle) {
  let session
  try {
    session = await ort.InferenceSession.create(modelOf(test), { executionProviders: ['cpu'], logSeverityLevel: 4 })
  } catch (error) {
    for (const each of test.cases) settle(each, error)
    return
  }
  for (const each of test.cases)
    await runCase(session, each).then(
      () => settle(each),
      error => settle(each, error)
    )
  await session.release()
}

const counts = { tests: 0, passed: 0, cases: 0, casesPassed: 0 }
const filter = new RegExp(options.filter)
for (const file of readdirSync(positionals[0]).sort()) {
  if (!/\.jsonc?$/.test(file) || !filter.test(file)) continue
  for (const test of parse(readFileSync(join(positionals[0], file), 'utf8'))) {
    let failed = 0
    counts.tests++
    await runTest(test, ({ name }, error) => {
      counts.cases++
      if (!error) return void counts.casesPassed++
      failed++
      console.log(`${file}: ${test.name} / ${name}: ${error.message.split('\n')[0].slice(0, 300)}`)
    })
    if (failed === 0) counts.passed++
  }
}
console.log(`${counts.passed} of ${counts.tests} tests, ${counts.casesPassed} of ${counts.cases} cases`)
