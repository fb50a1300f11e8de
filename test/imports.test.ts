import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const src = join(root, 'src')

/** What each layer may import besides itself, errors.ts, suggest.ts and host.ts. docs/architecture.md draws it. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  tensor: [],
  files: [],
  graph: ['tensor', 'files'],
  onnx: ['tensor', 'files', 'graph'],
  openvino: ['tensor', 'files', 'graph'],
  io: ['tensor', 'files', 'graph', 'onnx'],
  shapes: ['tensor'],
  kernels: ['tensor', 'shapes'],
  // Of graph only what a node and an attribute are: operators read them when they are bound.
  'op-kit': ['tensor', 'shapes', 'kernels', 'graph'],
  ops: ['tensor', 'shapes', 'kernels', 'graph', 'op-kit'],
  // Faster kernels for operators: it knows operators, and no operator knows it.
  wasm: ['tensor', 'shapes', 'kernels', 'op-kit'],
  bind: ['tensor', 'shapes', 'op-kit', 'graph'],
  infer: ['tensor', 'shapes', 'kernels', 'op-kit', 'graph', 'bind'],
  check: ['tensor', 'shapes', 'op-kit', 'graph', 'bind', 'infer'],
  plan: ['tensor', 'shapes', 'kernels', 'op-kit', 'graph', 'bind', 'infer'],
  runtime: ['tensor', 'files', 'shapes', 'kernels', 'op-kit', 'graph', 'bind', 'infer', 'wasm', 'plan'],
  compare: ['tensor', 'shapes', 'kernels', 'graph', 'bind', 'infer', 'runtime'],
  // What the command and the page beside it write as HTML.
  report: ['tensor', 'files', 'graph', 'io', 'check', 'compare'],
  convert: ['tensor', 'files', 'shapes', 'op-kit', 'graph', 'onnx', 'openvino', 'bind', 'infer', 'check', 'runtime'],
  'load.ts': ['tensor', 'files', 'graph', 'onnx', 'openvino'],
  'errors.ts': [],
  'suggest.ts': [],
  'host.ts': []
}

/** The command and the entries of the package may import everything. */
const TOPS = ['cli', 'entries', 'onnxruntime', 'index.ts', 'built-in.ts', 'built-in-rules.ts']

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(path => /\.tsx?$/.test(path) && !path.includes('/assembly/'))

const sources = sourcesIn(src)
/** Packages that are made of Nodewise: each has its own folder. */
const packages = readdirSync(join(root, 'packages')).map(name => join(root, 'packages', name, 'src'))
const ofPackages = packages.filter(folder => existsSync(folder)).flatMap(sourcesIn)

/** Files that a file imports, types and `import()` included; packages are left out. */
function importsOf(path: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'), true, true)
  return importedFiles.flatMap(({ fileName }) => (fileName.startsWith('.') ? [resolve(dirname(path), fileName)] : []))
}

const imports = new Map(sources.map(path => [path, importsOf(path)]))
const importsOfPackages = new Map(ofPackages.map(path => [path, importsOf(path)]))
const shown = (path: string): string => relative(src, path)
const layerOf = (path: string): string => shown(path).split('/')[0]

/** Files in a circle of imports, the first of them again at its end; undefined where there is none. */
function circle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (path: string): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].map(shown)
    if (done.has(path)) return undefined
    trail.push(path)
    for (const next of imports.get(path) ?? []) {
      const found = visit(next)
      if (found) return found
    }
    trail.pop()
    done.add(path)
    return undefined
  }
  for (const path of imports.keys()) {
    const found = visit(path)
    if (found) return found
  }
  return undefined
}

describe('imports', () => {
  test('lead to files', () => {
    const missing = [...imports].flatMap(([path, files]) =>
      files.filter(file => !existsSync(file)).map(file => `${shown(path)} imports ${shown(file)}`)
    )
    expect(missing).toEqual([])
  })

  test.each([
    ['sources', imports],
    ['packages', importsOfPackages]
  ])('of %s make no circle, of types either', (_, all) => expect(circle(all)).toBeUndefined())

  test('of a package stay in its folder: it has Nodewise by the names that users have', () => {
    const wrong = [...importsOfPackages].flatMap(([path, files]) => {
      const own = `${packages.find(folder => path.startsWith(`${folder}/`))}/`
      return files.filter(file => !file.startsWith(own)).map(file => `${shown(path)} imports ${shown(file)}`)
    })
    expect(wrong).toEqual([])
  })

  test('lead down the layers', () => {
    const wrong = [...imports].flatMap(([path, files]) => {
      const layer = layerOf(path)
      if (TOPS.includes(layer)) return []
      const allowed = [layer, 'errors.ts', 'suggest.ts', 'host.ts', ...(LAYERS[layer] ?? [])]
      return files
        .filter(file => !allowed.includes(layerOf(file)))
        .map(file => `${shown(path)} imports ${shown(file)}; src/${layer} may import ${allowed.join(', ')} only`)
    })
    expect(wrong).toEqual([])
  })

  test('of kernels that families share lead to no family', () => {
    const core = join(src, 'kernels/core/')
    const wrong = [...imports].flatMap(([path, files]) =>
      path.startsWith(core)
        ? files
            .filter(file => file.startsWith(join(src, 'kernels/')) && !file.startsWith(core))
            .map(file => `${shown(path)} imports ${shown(file)}`)
        : []
    )
    expect(wrong).toEqual([])
  })

  test('of no module are there for its effects: bundlers may leave out what is not used', () => {
    const bare = sources.filter(path => /^import '/m.test(readFileSync(path, 'utf8')))
    expect(bare.map(shown)).toEqual([])
  })
})
