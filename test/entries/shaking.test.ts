import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'

/** Names of the modules whose code is in a bundle of these lines, as a bundler for browsers makes it. */
async function modulesOf(lines: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: lines, resolveDir: `${import.meta.dirname}/../../src`, loader: 'ts' },
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: 'nowhere',
    write: false,
    metafile: true,
    treeShaking: true,
    tsconfigRaw: '{}'
  })
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([name, { bytesInOutput }]) => (bytesInOutput > 0 ? [name] : []))
  )
}

let checking: Promise<string[]> | undefined
const modulesOfCheck = (): Promise<string[]> => (checking ??= modulesOf(`export { check } from './index.ts'`))

const isOperatorOrKernel = (name: string): boolean => /^src\/(ops|kernels|op-kit|wasm)\//.test(name)

/** Small parts of a family that accelerated kernels and fused operators use too; a model picks these, so they stay. */
const SHARED = new Set([
  'src/kernels/attention/heads.ts',
  'src/kernels/attention/masks.ts',
  'src/kernels/attention/key-counts.ts',
  'src/kernels/attention/rotary.ts',
  'src/kernels/matrix/contraction-order.ts',
  'src/kernels/matrix/experts.ts',
  'src/kernels/matrix/gemm.ts',
  'src/kernels/signal/lengths.ts'
])

describe('a bundler leaves out', () => {
  test('operators that are not named', async () => {
    const modules = await modulesOf(`
      import { InferenceSession } from './entries/core.ts'
      import { gather } from './entries/ops.ts'
      export const session = InferenceSession.create('model.onnx', { ops: [gather] })`)
    const operators = modules.filter(name => name.startsWith('src/ops/'))
    expect(operators).toContain('src/ops/gather/gather.ts')
    expect(operators.length).toBeLessThan(5)
    const kernels = modules.filter(name => name.startsWith('src/kernels/'))
    const families = new Set(kernels.filter(name => !SHARED.has(name)).map(name => name.split('/')[2]))
    expect(families).toContain('gather')
    for (const family of ['recurrent', 'text', 'conv', 'image', 'signal', 'detection', 'attention', 'matrix'])
      expect(families, family).not.toContain(family)
  })

  test('all operators and kernels where models are only loaded', async () => {
    const modules = await modulesOf(`export { load } from './entries/graph.ts'`)
    expect(modules).toContain('src/onnx/load.ts')
    expect(modules.filter(isOperatorOrKernel)).toEqual([])
    expect((await modulesOf(`export { load } from './index.ts'`)).filter(isOperatorOrKernel)).toEqual([])
  })

  test('the runtime where models are only checked', async () => {
    const modules = await modulesOfCheck()
    expect(modules).toContain('src/check/check.ts')
    expect(modules.filter(name => /^src\/(runtime|plan|wasm)\//.test(name))).toEqual([])
  })

  test('kernels that decide no shapes, where models are only checked', async () => {
    const kernels = (await modulesOfCheck()).filter(name => /^src\/kernels\//.test(name))
    expect(kernels).toContain('src/kernels/gather/gather.ts')
    for (const name of ['conv/conv', 'matrix/matmul', 'attention/attention', 'recurrent/recurrent', 'image/resize'])
      expect(kernels).not.toContain(`src/kernels/${name}.ts`)
  })
})
