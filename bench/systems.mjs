// The systems that are compared, and how a child process measures one cell of the table.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const pathOf = relative => fileURLToPath(new URL(relative, import.meta.url))

/** A python with the peers: the one that PYTHON names, or python3. */
export const PYTHON = process.env.PYTHON ?? 'python3'

/**
 * - `threads`: the thread counts that it can be held to
 * - `native`: it counts for "the best native peer"
 * - `dialects`: models that it reads
 */
const SYSTEMS = [
  { id: 'nodewise', title: 'Nodewise', threads: [1, 2], native: false, dialects: ['onnx', 'ir'] },
  { id: 'ort-node', title: 'ORT node', threads: [1, 2], native: true, dialects: ['onnx'], package: 'onnxruntime-node' },
  { id: 'ort-web', title: 'ORT web', threads: [1, 2], native: false, dialects: ['onnx'], package: 'onnxruntime-web' },
  { id: 'ort-py', title: 'ORT py', threads: [1, 2], native: true, dialects: ['onnx'], python: 'onnxruntime' },
  { id: 'openvino', title: 'OpenVINO', threads: [1, 2], native: true, dialects: ['onnx', 'ir'], python: 'openvino' },
  {
    id: 'numpy',
    title: 'NumPy',
    threads: [1],
    native: true,
    dialects: ['onnx', 'ir'],
    python: 'numpy',
    without: ['GatherTree']
  }
]

export const canRun = (system, row) => system.dialects.includes(row.dialect) && !system.without?.includes(row.op)

/** Versions of the Python packages that are there, by name. */
function pythonPackages() {
  const code =
    'import importlib.metadata as m, json\nv = {}\nfor n in ("onnxruntime", "openvino", "numpy"):\n' +
    '  try: v[n] = m.version(n)\n  except m.PackageNotFoundError: pass\nprint(json.dumps(v))'
  const { status, stdout } = spawnSync(PYTHON, ['-c', code], { encoding: 'utf8' })
  return status === 0 ? JSON.parse(stdout) : {}
}

/** The version of a package that is installed here. */
function nodePackage(name) {
  const path = pathOf(`node_modules/${name}/package.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : undefined
}

/** The systems that this machine has, with their versions; `only` names some. */
export function findSystems(only) {
  if (!existsSync(pathOf('../dist/node/index.mjs')))
    throw new Error('dist/node/index.mjs is missing: run npm run build in the folder above')
  const python = pythonPackages()
  const found = []
  for (const system of SYSTEMS) {
    if (only && !only.includes(system.id)) continue
    const version = system.package
      ? nodePackage(system.package)
      : system.python
        ? python.numpy && python[system.python]
        : 'here'
    if (version !== undefined) found.push({ ...system, version })
  }
  return found
}

/** The last line of what a process complained with that names an error. */
export const complaint = text =>
  text
    .split('\n')
    .findLast(line => /error|exception/i.test(line) && !/^\s+at /.test(line))
    ?.trim()

/**
 * Runs a child process to its end.
 * @returns what it answered, or `{ error }` with the last line that it complained with
 */
function ask(command, args) {
  const { status, signal, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 2 ** 26
  })
  if (status === 0) return JSON.parse(stdout)
  return { error: complaint(stderr) ?? `ended with ${signal ?? status}` }
}

/** Measures a row with a system in a process of its own. Cells by mode: `{ fresh, array?, heap? }`, or `{ error }`. */
export function measureRow(system, job) {
  const argument = JSON.stringify(job)
  return system.python
    ? ask(PYTHON, [pathOf('systems/python.py'), system.id, argument])
    : ask(process.execPath, [pathOf(`systems/${system.id}.mjs`), argument])
}

/** Milliseconds (median, min) of copying as many bytes as a row moves, see copy.mjs: `{ bound, same }`. */
export const measureCopy = options => ask(process.execPath, [pathOf('systems/copy.mjs'), JSON.stringify(options)])
