// How many dims each shape inference leaves open in the ONNX models of ../shared/data/zoo: Nodewise, ONNX's own, and
// ONNX Runtime's symbolic
// one. Prints the tables of docs/checking.md. First: npm run build; and Python with onnx, onnxruntime and sympy.
// node bench/unknown-dims.mjs [PYTHON]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check, load } from '../dist/node/index.mjs'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))
const [python = 'python3'] = process.argv.slice(2)
const data = path('../../shared/data')
const modelsIn = (set, file) =>
  readdirSync(join(data, set))
    .toSorted()
    .map(name => ({ name, file: join(data, set, name, file) }))
    .filter(({ file }) => existsSync(file))

/** The peers' figures; the stripped models that they are of are left in the folder. */
function peers(folder, files) {
  const { status, stdout, stderr } = spawnSync(python, [path('unknown-dims.py'), folder, ...files], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30
  })
  if (status !== 0) throw new Error(`${python} ended with ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Nothing is known, or only an interval. */
const isOpen = dim => /^(\?|\d+\.\.\d*)$/.test(dim)
const openIn = dims => dims.filter(isOpen).length
const sum = numbers => numbers.reduce((total, number) => total + number, 0)
const share = (open, all) =>
  open === 0 ? '0' : `${open} (${open / all < 0.001 ? '<0.1' : ((100 * open) / all).toFixed(1)} %)`

/** Values that nodes of the main graph make. */
const madeIn = ({ values }) => values.filter(({ graphPath, node }) => graphPath === '' && node !== undefined)

function peerCell({ error, open }, made, all) {
  if (error !== undefined) return `throws: ${error.replaceAll('|', '/').slice(0, 80)}`
  const shapeless = made.filter(({ name }) => (open[name] ?? null) === null)
  // All dims of a value without a shape are open.
  const count = sum(made.map(({ name, dims }) => open[name] ?? dims.length))
  return share(count, all) + (shapeless.length > 0 ? `, ${shapeless.length} without a shape` : '')
}

async function onnxTable() {
  const models = modelsIn('zoo', 'model.onnx')
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-dims-'))
  try {
    const { versions, models: found } = peers(
      folder,
      models.map(({ file }) => file)
    )
    console.log(
      `| model | dims | Nodewise | ONNX ${versions.onnx} | ONNX Runtime ${versions.onnxruntime} |\n` +
        `|---|---|---|---|---|`
    )
    for (const [i, { name }] of models.entries()) {
      const made = madeIn(check(await load(join(folder, `${i}.onnx`))))
      const all = sum(made.map(({ dims }) => dims.length))
      const own = share(sum(made.map(({ dims }) => openIn(dims))), all)
      console.log(
        `| ${name} | ${all} | ${own} | ${peerCell(found[i].onnx, made, all)} | ${peerCell(found[i].ort, made, all)} |`
      )
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * IR has no names for dims: each open dim of an input gets one of its own, so that what follows from it can be told
 * from what is open.
 */
function namedInputs({ graph }) {
  const shapes = new Map()
  for (const { name, value, declared = graph.values.get(value)?.declared } of graph.inputs) {
    if (declared?.dims)
      shapes.set(
        name,
        declared.dims.map((dim, i) => (typeof dim === 'number' ? dim : `${name}.${i}`))
      )
  }
  return shapes
}

async function irTable() {
  console.log('\n| model | dims | open |\n|---|---|---|')
  let models = 0
  let dims = 0
  for (const { name, file } of modelsIn('openvino-zoo', 'model.xml')) {
    const model = await load(file)
    const made = madeIn(check(model, { inputShapes: namedInputs(model) }))
    const shapeless = made.filter(value => value.dims === undefined).length
    const all = sum(made.map(value => value.dims?.length ?? 0))
    const open = sum(made.map(value => openIn(value.dims ?? [])))
    if (open > 0 || shapeless > 0)
      console.log(`| ${name} | ${all} | ${share(open, all)}${shapeless > 0 ? `, ${shapeless} without a shape` : ''} |`)
    else {
      models++
      dims += all
    }
  }
  console.log(`| ${models} others | ${dims} | 0 |`)
}

await onnxTable()
await irTable()
