// The cold rows: a whole process from start to printed result looks 512 rows up in a table of 1 or 2 GiB. The files
// have just been written,
// so they lie in the page cache where the machine has the memory for it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { fill, indices, randomSource } from './content.mjs'
import { writeIr } from './ir.mjs'
import { writeOnnx } from './onnx.mjs'
import { complaint, pathOf, PYTHON } from './systems.mjs'

const COLUMNS = 768
const LOOKED_UP = 512
const GIB = 2 ** 30
/** Just over 2 GiB, so that a signed 32-bit offset does not reach the end. */
const TWO_GIB_ROWS = Math.ceil((2 * GIB) / (4 * COLUMNS))
const ONE_GIB_ROWS = Math.floor(GIB / (4 * COLUMNS))

/** Each row with its files' names, the systems that read it, and the rows of its table. */
const COLD_ROWS = [
  {
    name: 'cold 2 GiB external .onnx',
    model: 'cold.onnx',
    rows: TWO_GIB_ROWS,
    systems: ['ort-node', 'ort-py', 'openvino']
  },
  { name: 'cold 2 GiB .bin', model: 'cold.xml', rows: TWO_GIB_ROWS, systems: ['openvino'] },
  {
    name: 'cold 1 GiB embedded .onnx',
    model: 'embedded.onnx',
    rows: ONE_GIB_ROWS,
    systems: ['ort-node', 'ort-web', 'ort-py', 'openvino']
  }
]

/** A table's content, made while it is written. */
function table(rows) {
  const size = rows * COLUMNS * 4
  return {
    size,
    write(file) {
      const random = randomSource(1)
      const chunk = Buffer.alloc(COLUMNS * 4096)
      for (let left = size; left > 0;) {
        fill(chunk, 'float32', random)
        left -= writeSync(file, chunk, 0, Math.min(left, chunk.length))
      }
    }
  }
}

/** Writing that goes on would disturb the measuring. */
function flush(path) {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

const port = (name, type, dims) => ({ name, type, dims })

function writeModel(folder, { model, rows }) {
  const data = { ...port('data', 'float32', [rows, COLUMNS]), bytes: table(rows) }
  const ids = port('indices', 'int64', [LOOKED_UP])
  const output = port('output', 'float32', [LOOKED_UP, COLUMNS])
  if (model === 'cold.xml') {
    // The .bin of the IR is the external data of the .onnx too.
    const axis = { ...port('axis', 'int64', []), bytes: Buffer.alloc(8) }
    writeIr(join(folder, 'cold'), {
      type: 'Gather',
      version: 'opset8',
      data: { batch_dims: 0 },
      operands: [data, ids, axis],
      output
    })
    flush(join(folder, 'cold.bin'))
    return
  }
  const { bytes, ...rest } = data
  const constant = model === 'cold.onnx' ? { ...rest, external: { file: 'cold.bin', length: bytes.size } } : data
  const nodes = [{ op: 'Gather', inputs: ['data', 'indices'], outputs: ['output'] }]
  writeOnnx(join(folder, model), { inputs: [ids], outputs: [output], initializers: [constant], nodes })
  flush(join(folder, model))
}

/** A .npy file of int64 (numpy.lib.format, version 1.0). */
function npy(bytes) {
  const header = `{'descr': '<i8', 'fortran_order': False, 'shape': (${bytes.length / 8},), }`.padEnd(117) + '\n'
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from([header.length, 0]),
    Buffer.from(header),
    bytes
  ])
}

const NODE = ['--require', pathOf('cold/peak.cjs')]
const cli = pathOf('../bin/nodewise.js')

/** What each system runs: command and arguments. */
const COMMANDS = {
  'node -e 0': () => [process.execPath, ...NODE, '-e', '0'],
  'nodewise run': (model, ids) => [process.execPath, ...NODE, cli, 'run', model, '-i', `indices=${ids}.npy`],
  'Nodewise API': (model, ids) => [process.execPath, ...NODE, pathOf('cold/nodewise.mjs'), model, `${ids}.raw`],
  'ort-node': (model, ids) => [
    process.execPath,
    ...NODE,
    pathOf('cold/ort.mjs'),
    'onnxruntime-node',
    model,
    `${ids}.raw`
  ],
  'ort-web': (model, ids) => [
    process.execPath,
    ...NODE,
    pathOf('cold/ort.mjs'),
    'onnxruntime-web',
    model,
    `${ids}.raw`
  ],
  'ort-py': (model, ids) => [PYTHON, pathOf('cold/peer.py'), 'onnxruntime', model, `${ids}.raw`],
  openvino: (model, ids) => [PYTHON, pathOf('cold/peer.py'), 'openvino', model, `${ids}.raw`]
}

/** Runs a command once: milliseconds, peak memory in bytes and what it printed. */
function once([command, ...args]) {
  const start = performance.now()
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe']
  const { status, signal, output } = spawnSync(command, args, { stdio, encoding: 'utf8', timeout: 120_000 })
  const time = performance.now() - start
  if (status === 0) return { time, peak: Number(output[3]), printed: output[1].trim() }
  return { error: complaint(output[2]) ?? `ended with ${signal ?? status}` }
}

/** The command prints a few elements only, so one more run saves the output, and its checksum is taken from there. */
function checksumOfCommand(folder, command) {
  const saved = join(folder, 'saved')
  mkdirSync(saved, { recursive: true })
  const { error } = once([...command, '-o', saved])
  if (error) return error
  const file = readFileSync(join(saved, readdirSync(saved)[0]))
  rmSync(saved, { recursive: true })
  return createHash('sha1')
    .update(file.subarray(-4 * LOOKED_UP * COLUMNS))
    .digest('hex')
}

const median = values => values.toSorted((a, b) => a - b)[values.length >> 1]

/** Milliseconds after which a slow system sits the other turns out, once it had three. */
const PATIENCE = 15_000

const isDone = runs =>
  runs.some(run => run.error) || (runs.length >= 3 && runs.reduce((sum, run) => sum + run.time, 0) > PATIENCE)

/** In turns, so that whatever else the machine does hits all alike. */
function measure(commands, turns) {
  const runs = new Map(Object.keys(commands).map(name => [name, []]))
  for (let turn = 0; turn <= turns; turn++) {
    for (const [name, command] of Object.entries(commands)) {
      const done = runs.get(name)
      if (isDone(done)) continue
      const run = once(command)
      // The first turn warms the page cache.
      if (turn > 0 || run.error) done.push(run)
    }
  }
  return [...runs].map(([name, done]) => {
    const failed = done.find(run => run.error)
    if (failed) return { name, error: failed.error }
    const times = done.map(run => run.time)
    return {
      name,
      median: median(times),
      min: Math.min(...times),
      peak: Math.max(...done.map(run => run.peak)),
      printed: done[0].printed
    }
  })
}

function measureRow(row, folder, systems, turns) {
  const ids = join(folder, 'cold-indices')
  const bytes = indices('int64', LOOKED_UP, row.rows, 7)
  writeFileSync(`${ids}.raw`, bytes)
  writeFileSync(`${ids}.npy`, npy(bytes))
  const model = join(folder, row.model)
  const isThere = id => systems.some(system => system.id === id)
  const wanted = [
    'node -e 0',
    ...(isThere('nodewise') ? ['nodewise run', 'Nodewise API'] : []),
    ...row.systems.filter(isThere)
  ]
  const commands = Object.fromEntries(wanted.map(name => [name, COMMANDS[name](model, ids)]))
  const cells = measure(commands, turns).map(({ printed, ...cell }) => ({
    ...cell,
    checksum: cell.name === 'nodewise run' ? checksumOfCommand(folder, commands[cell.name]) : printed
  }))
  const checksums = new Set(cells.filter(cell => !cell.error && cell.checksum).map(cell => cell.checksum))
  return { name: row.name, bytes: row.rows * COLUMNS * 4, cells, wrong: checksums.size > 1 }
}

/** Measures the cold rows that are asked for; none when the disk is too full. */
export function measureCold(folder, systems, { pattern, quick, keep }, note) {
  const rows = COLD_ROWS.filter(row => pattern.test(row.name))
  if (rows.length === 0) return []
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < 5 * GIB) {
    note(`cold rows left out: ${folder} has less than 5 GiB free`)
    return []
  }
  const files = new Set(rows.flatMap(({ model }) => (model === 'embedded.onnx' ? [model] : ['cold.xml', 'cold.onnx'])))
  const results = []
  try {
    note('writing the tables of the cold rows')
    for (const row of COLD_ROWS) if (files.has(row.model)) writeModel(folder, row)
    for (const row of rows) {
      note(row.name)
      results.push(measureRow(row, folder, systems, quick ? 2 : 11))
    }
  } finally {
    if (!keep) for (const file of ['cold.bin', ...files]) rmSync(join(folder, file), { force: true })
  }
  return results
}
