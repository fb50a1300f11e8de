import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { absentAmong, branchInputs } from '../../src/runtime/absent.ts'
import { node, onnxModel, port } from '../fixtures/onnx.ts'

/** A step of a decoder as Optimum merges them: what it reads of the encoder is a cache, or is made anew. */
const parts = {
  inputs: [
    port('cache', 'float', ['batch', 'length', 2]),
    port('mask', 'float', ['batch', 'length']),
    port('states', 'float', ['batch', 'length', 2]),
    port('has cache', 'bool', [1])
  ],
  outputs: [port('y', 'float'), port('present', 'float')],
  nodes: [
    node('If', ['has cache'], ['read', 'present'], {
      then_branch: {
        graph: {
          nodes: [node('ReduceSum', ['cache'], ['read 1'], { keepdims: 0 }), node('Identity', ['cache'], ['kept'])],
          outputs: [port('read 1', 'float'), port('kept', 'float')]
        }
      },
      else_branch: {
        graph: {
          nodes: [node('Neg', ['states'], ['made']), node('ReduceSum', ['made'], ['read 2'], { keepdims: 0 })],
          outputs: [port('read 2', 'float'), port('made', 'float')]
        }
      }
    }),
    node('Add', ['read', 'mask'], ['y'])
  ]
}
const floats = (dims: number[]): Tensor =>
  new Tensor(
    'float32',
    Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => i + 1),
    dims
  )
const has = (cache: boolean): Tensor => new Tensor('bool', [cache ? 1 : 0], [1])

describe('a cache without elements beside inputs whose dims have the same names', () => {
  const feeds = { cache: floats([1, 0, 2]), mask: floats([1, 3]), states: floats([1, 3, 2]) }

  test('is what a first run is given, whose branch does not read it; the next ones read it', async () => {
    const session = new InferenceSession(await onnxModel(parts))
    for (const [at, size] of [3, 4, 3, 3, 3].entries()) {
      const { mask, states } = { mask: floats([1, size]), states: floats([1, size, 2]) }
      const first = await session.run({ ...feeds, mask, states, 'has cache': has(false) })
      const total = -size * (2 * size + 1)
      expect([...first.y.data], `${at}`).toEqual(Array.from({ length: size }, (_, i) => total + i + 1))
      const next = await session.run({ cache: first.present, mask, states, 'has cache': has(true) })
      expect(next).toEqual(first)
    }
  })

  test('is no other case where the names of its dims have the same sizes in all inputs', async () => {
    const model = await onnxModel(parts)
    const bound = bind(model, registryWith())
    const ports = branchInputs(bound)
    expect(ports.map(({ name }) => name)).toEqual(['cache', 'states'])
    const [cache] = ports
    expect(absentAmong(ports, model, feeds)).toEqual([cache.value])
    const none = { cache: floats([1, 0, 2]), mask: floats([1, 0]), states: floats([1, 0, 2]) }
    expect(absentAmong(ports, model, none)).toBeUndefined()
  })

  test('may be given before the others, and the values of every node be seen', async () => {
    const session = new InferenceSession(await onnxModel(parts))
    const seen: string[] = []
    const { y } = await session.run({ ...feeds, 'has cache': has(false) }, ['y'], {
      onStep: ({ node }) => seen.push(node.type)
    })
    expect([...y.data]).toEqual([-20, -19, -18])
    expect(seen.at(-1)).toBe('Add')
  })

  test('is refused where it has elements, or where more than branches read it', async () => {
    const session = new InferenceSession(await onnxModel(parts))
    await expect(session.run({ ...feeds, cache: floats([1, 1, 2]), 'has cache': has(false) })).rejects.toMatchObject({
      code: 'shape-mismatch'
    })
    const more = { ...parts, outputs: [...parts.outputs, port('rank', 'int64')] }
    const read = new InferenceSession(
      await onnxModel({ ...more, nodes: [...parts.nodes, node('Size', ['cache'], ['rank'])] })
    )
    await expect(read.run({ ...feeds, 'has cache': has(false) })).rejects.toMatchObject({
      code: 'shape-mismatch',
      reason: 'dim 1 of input "mask" is "length", which is 0 in input "cache"; 3 is given'
    })
  })
})
