import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { InferenceSession, type OpListing, parseModel, supportedOps, Tensor } from '../../src/index.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import { libraryFolder } from '../bundles.ts'
import { onnxBytes } from '../fixtures/onnx.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder: string
beforeAll(() => {
  folder = libraryFolder()
})

interface Manifest {
  readonly exports: Readonly<
    Record<string, string | { readonly node?: Readonly<Record<'require' | 'default', { readonly default: string }>> }>
  >
}

/** What a program prints that imports the entries of the bundle. */
function printed(program: string, ...flags: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
    cwd: folder,
    encoding: 'utf8'
  })
  expect(stderr).toBe('')
  return stdout.trim()
}

/** A copy of the bundle without some of its files. */
function copyWithout(...names: string[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'nodewise-library-'))
  cpSync(folder, copy, { recursive: true, filter: path => !names.includes(basename(path)) })
  return copy
}

/** A program that prints what it gathers by a copy of the bundle. */
const gather = (copy: string, model = 'palette.onnx'): string => `
  import { InferenceSession, Tensor } from ${JSON.stringify(pathToFileURL(join(copy, 'index.mjs')))}
  const session = await InferenceSession.create(${JSON.stringify(join(root, 'models', model))})
  const { name } = await session.run({ ids: new Tensor('int64', [5n]) })
  console.log(name.data.join())`

/** A program that prints what it classifies by a copy of the bundle. */
const classify = (copy: string): string => `
  import { InferenceSession, Tensor } from ${JSON.stringify(pathToFileURL(join(copy, 'index.mjs')))}
  const session = await InferenceSession.create(${JSON.stringify(join(root, 'models/iris.onnx'))})
  const [name] = session.inputNames
  const outputs = await session.run({ [name]: new Tensor('float32', [6, 2.7, 4.2, 1.3], [1, 4]) })
  console.log(outputs[session.outputNames[0]].data.join())`

describe('the library bundled for Node', () => {
  test('has every entry of the package but the one that is written over the others', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
    const files = Object.values(exports).flatMap(entry =>
      typeof entry === 'string' ? [] : Object.values(entry.node ?? {}).map(each => each.default)
    )
    expect(files.map(file => file.replace('./dist/node/', '')).sort()).toEqual([
      'core.cjs',
      'core.mjs',
      'graph.cjs',
      'graph.mjs',
      'index.cjs',
      'index.mjs',
      'ops.cjs',
      'ops.mjs'
    ])
    for (const file of files) readFileSync(join(folder, file.replace('./dist/node/', '')))
  })

  test('runs a gather, and the entries share their classes', () => {
    const program = `
      import * as all from './index.mjs'
      import { InferenceSession, Tensor } from './core.mjs'
      import * as ops from './ops.mjs'
      import { load, NodewiseError } from './graph.mjs'
      const path = ${JSON.stringify(join(root, 'models/palette.onnx'))}
      const feeds = { ids: new Tensor('int64', [1n, 5n], [2]) }
      const { name } = await (await all.InferenceSession.create(path)).run(feeds)
      const session = new InferenceSession(await load(path), { ops: Object.values(ops).flat() })
      const { name: same } = await session.run(feeds)
      const failure = await all.load('nothing.onnx').catch(error => error)
      console.log(JSON.stringify([name.data, same.data, failure instanceof NodewiseError]))`
    expect(JSON.parse(printed(program))).toEqual([['white', 'yellow'], ['white', 'yellow'], true])
  })

  test('is had by require too, which gives what import gives', () => {
    const program = `
      import { createRequire } from 'node:module'
      const require = createRequire(${JSON.stringify(join(folder, 'program.js'))})
      for (const name of ['index', 'graph', 'core', 'ops']) {
        const [imported, required] = [await import('./' + name + '.mjs'), require('./' + name + '.cjs')]
        for (const key of Object.keys(imported))
          if (imported[key] !== required[key]) console.log(name, key)
      }`
    expect(printed(program)).toBe('')
  })

  test('runs as a module in a sandbox, whose arrays it gives', () => {
    const program = `
      import { createRequire } from 'node:module'
      import { readFileSync } from 'node:fs'
      import vm from 'node:vm'
      // As Jest loads modules of CommonJS.
      const own = new Set(vm.runInNewContext('Object.getOwnPropertyNames(globalThis)'))
      const others = Object.getOwnPropertyNames(globalThis).filter(name => !own.has(name) && name !== 'globalThis')
      const sandbox = vm.createContext(Object.fromEntries(others.map(name => [name, globalThis[name]])))
      const modules = new Map()
      const folder = ${JSON.stringify(folder)}
      function requireIn(id) {
        if (!id.startsWith('.')) return createRequire(folder + '/')(id)
        const path = folder + id.slice(1)
        if (!modules.has(path)) {
          const module = { exports: {} }
          modules.set(path, module)
          const names = 'module, exports, require, __dirname, __filename'
          const wrapper = '(function (' + names + ') {' + readFileSync(path) + '\\n})'
          vm.runInContext(wrapper, sandbox)(module, module.exports, requireIn, folder, path)
        }
        return modules.get(path).exports
      }
      const { InferenceSession, Tensor } = requireIn('./index.cjs')
      const session = await InferenceSession.create(${JSON.stringify(join(root, 'models/palette.onnx'))})
      const { rgb } = await session.run({ ids: new Tensor('int64', [1n]) })
      console.log(rgb.data instanceof vm.runInContext('Uint8Array', sandbox), rgb.dims.join())`
    expect(printed(program, '--no-warnings')).toBe('true 1,3')
  })

  test('starts without its compiled forms, which are those of one version of Node', () => {
    const caches = readdirSync(folder).filter(name => name.endsWith('.cache'))
    const form = `${process.version}-${process.platform}-${process.arch}.cache`
    expect(caches.sort()).toEqual(['networks', 'openvino', 'program', 'rest'].map(part => `${part}.${form}`))
    const bare = copyWithout(...caches)
    try {
      expect(printed(gather(bare))).toBe('yellow')
    } finally {
      rmSync(bare, { recursive: true, force: true })
    }
  })

  test.each([
    ['gathers from a model of ONNX with the first script alone', [], 'palette.onnx', 'yellow'],
    ['gathers from an IR with two scripts', ['openvino.js'], 'palette.xml', 'yellow'],
    ['runs other models of ONNX with two scripts', ['networks.js'], 'iris.onnx', 'versicolor']
  ])('%s', (_, needed, model, expected) => {
    const others = ['openvino.js', 'networks.js', 'rest.js'].filter(script => !needed.includes(script))
    const small = copyWithout(...others)
    try {
      expect(printed(model === 'iris.onnx' ? classify(small) : gather(small, model))).toBe(expected)
    } finally {
      rmSync(small, { recursive: true, force: true })
    }
  })

  test('computes with the kernels that lie beside it', async () => {
    const text = `<ir_version: 8, opset_import: ["" : 17]>
      product (float[8,4096] a, float[4096,8] b) => (float[8,8] c) { c = MatMul(a, b) }`
    const values = Float32Array.from({ length: 2 ** 15 }, (_, i) => Math.fround(Math.sin(i)))
    const session = new InferenceSession(parseModel(text))
    const { c } = await session.run({
      a: new Tensor('float32', values, [8, 4096]),
      b: new Tensor('float32', values, [4096, 8])
    })
    const program = `
      import { InferenceSession, parseModel, Tensor } from './index.mjs'
      const values = Float32Array.from({ length: 2 ** 15 }, (_, i) => Math.fround(Math.sin(i)))
      const session = new InferenceSession(parseModel(${JSON.stringify(text)}))
      const [a, b] = [[8, 4096], [4096, 8]].map(dims => new Tensor('float32', values, dims))
      console.log((await session.run({ a, b })).c.data.join())`
    // Sums in float32; those of the reference are rounded once, so without the kernels most numbers would be others.
    expect(printed(program)).toBe(c.data.join())
  })

  test('reads every 64-bit integer of ONNX exactly', () => {
    const values = ['0', '-1', '9007199254740993', '-9223372036854775808', '9223372036854775807']
    const node = { opType: 'X', attribute: [{ name: 'a', type: 7, ints: values }] }
    const bytes = onnxBytes({ nodes: [node], outputs: [] })
    const program = `
      import { load } from './graph.mjs'
      const bytes = Buffer.from('${Buffer.from(bytes).toString('base64')}', 'base64')
      const { graph, opsets } = await load(bytes, { name: 'model.onnx' })
      console.log([...graph.nodes[0].attributes.get('a').value, opsets.get('ai.onnx')].join())`
    expect(printed(program)).toBe([...values, '17'].join())
  })

  test('names in nodewise/ops every operator', () => {
    const program = `import * as ops from './ops.mjs'; console.log(Object.values(ops).flat().length)`
    expect(Number(printed(program))).toBe(ALL_OPS.length)
  })

  test('runs modules that few programs need when they are called', () => {
    const program = `
      import { check, convert, htmlReport, load, readNpz, Tensor, writeNpz } from './index.mjs'
      const model = await load(${JSON.stringify(join(root, 'models/palette.onnx'))})
      const { model: { dialect } } = convert(model, { dialect: 'openvino' })
      const packed = writeNpz(new Map([['x', new Tensor('int32', Int32Array.from([7, 8]), [2])]]), { compress: true })
      const report = htmlReport(model, { checked: check(model) })
      console.log(dialect, readNpz(packed).get('x').data.join(), report.slice(0, 15))`
    expect(printed(program)).toBe('openvino 7,8 <!doctype html>')
  })

  test('finds every operator by its type, and none other', () => {
    const program = `import { supportedOps } from './index.mjs'; console.log(JSON.stringify(supportedOps()))`
    const inOrder = (ops: readonly OpListing[]): string[] => ops.map(op => JSON.stringify(op)).sort()
    expect(inOrder(JSON.parse(printed(program)) as OpListing[])).toEqual(inOrder(supportedOps()))
  })

  test('has stacks of the sources where Node is asked to map them', () => {
    const program = `import { load } from './graph.mjs'; load('nothing.onnx').catch(error => console.log(error.stack))`
    expect(printed(program, '--enable-source-maps')).toContain('load.ts:')
    expect(printed(program)).toContain('program.js:')
  })
})
