import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

const manifest = (path: string): Manifest =>
  JSON.parse(readFileSync(new URL(`../../${path}package.json`, import.meta.url), 'utf8')) as Manifest

test('the package in the place of onnxruntime is of the version of the package that it names', () => {
  const { version, dependencies } = manifest('packages/onnxruntime/')
  expect(version).toBe(manifest('').version)
  expect(dependencies.nodewise).toBe(`^${version}`)
})

/** What programs write that were made for onnxruntime. */
const PROGRAM = `
import * as ort from 'onnxruntime-node'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import * as gpu from 'onnxruntime-node/webgpu'
const t: ort.TypedTensor<'float32'> = new Tensor('float32', [1], [1])
const backend: string = ort.listSupportedBackends()[0].name
ort.env.wasm.numThreads = 1
export const run = async (): Promise<unknown> => {
  const s: InferenceSession = await InferenceSession.create('a.onnx', { executionProviders: ['cpu'] })
  const { y } = await s.run({ x: t, z: new gpu.Tensor([true]) })
  return [backend, ...y.dims]
}
`

const root = fileURLToPath(new URL('../../', import.meta.url))
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodewise-types-'))
  mkdirSync(join(folder, 'node_modules'))
  const links = {
    'onnxruntime-node': 'packages/onnxruntime',
    'onnxruntime-common': 'node_modules/onnxruntime-common',
    nodewise: ''
  }
  for (const [name, path] of Object.entries(links))
    symlinkSync(join(root, path), join(folder, 'node_modules', name), 'junction')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { ModuleKind, ModuleResolutionKind } = ts

test.each([
  ['program.mts', { module: ModuleKind.NodeNext }],
  ['program.cts', { module: ModuleKind.Node16 }],
  ['program.ts', { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler }],
  ['program.ts', { module: ModuleKind.CommonJS, moduleResolution: ModuleResolutionKind.Node10 }]
])('%s finds the types of the package in the place of onnxruntime: %j', (name, options) => {
  const path = join(folder, name)
  writeFileSync(path, PROGRAM)
  const program = ts.createProgram([path], {
    ...options,
    ignoreDeprecations: '6.0',
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    noEmit: true,
    preserveSymlinks: true,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: []
  })
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText)
  expect(problems).toEqual([])
})
