import { describe, expect, test } from 'vitest'
import { InferenceSession, type RunOptions, Tensor, type Value } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

type Parts = Partial<ModelParts> & Pick<ModelParts, 'nodes'>

const session = (parts: Parts, maxMemory: number): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes({ inputs: [port('x', 'float', ['n'])], outputs: [port('y', 'float')], ...parts }), {
    maxMemory
  })
const zeros = (size: number): Tensor => new Tensor('float32', new Float32Array(size), [size])
/** How many nodes have run when a run fails, and its failure. */
async function failing(parts: Parts, maxMemory: number, size = 1000): Promise<{ ran: number; error: unknown }> {
  let ran = 0
  const onStep: RunOptions['onStep'] = () => {
    ran++
  }
  try {
    await (await session(parts, maxMemory)).run({ x: zeros(size) }, { onStep })
  } catch (error) {
    return { ran, error }
  }
  return { ran, error: undefined }
}

/** x, doubled so many times. */
const doubling = (times: number): object[] =>
  Array.from({ length: times }, (_, i) => {
    const from = i === 0 ? 'x' : `v${i - 1}`
    return node('Concat', [from, from], [i === times - 1 ? 'y' : `v${i}`], { axis: 0 })
  })

describe('a run that cannot end within its memory is refused before anything is computed', () => {
  test('at the first node that would exceed it', async () => {
    const { ran, error } = await failing({ nodes: doubling(30) }, 1e6)
    expect(ran).toBe(0)
    expect(error).toMatchObject({ code: 'limit-exceeded', place: { nodeIndex: 7, type: 'Concat' } })
    expect(String(error)).toContain('take 1536000 bytes or more; a run may hold 1000000')
  })

  test('by the dims of each run', async () => {
    const run = await session({ nodes: doubling(5) }, 250_000)
    const outcome = (size: number): Promise<unknown> =>
      run.run({ x: zeros(size) }).then(
        ({ y }) => y.dims[0],
        (error: { code: string }) => error.code
      )
    expect(await outcome(1000)).toBe(32_000)
    expect(await outcome(1300)).toBe(41_600)
    expect(await outcome(1400)).toBe('limit-exceeded')
    expect(await outcome(1301)).toBe(41_632)
    expect(await outcome(3000)).toBe('limit-exceeded')
  })
})

describe('a run that fits is never refused', () => {
  const bytes = 4 * 10_000
  test.each<[string, Parts]>([
    ['views', { nodes: [node('Unsqueeze', ['x', 'zero'], ['a']), node('Squeeze', ['a', 'zero'], ['y'])] }],
    ['results written over what dies', { nodes: [node('Neg', ['x'], ['a']), node('Abs', ['a'], ['y'])] }],
    [
      'what died before',
      {
        nodes: [
          node('Concat', ['x', 'tail'], ['a'], { axis: 0 }),
          node('Slice', ['a', 'zero', 'one'], ['b']),
          node('Concat', ['b', 'b'], ['c'], { axis: 0 }),
          node('Expand', ['c', 'size'], ['d']),
          node('Slice', ['d', 'zero', 'one'], ['y'])
        ]
      }
    ]
  ])('%s', async (_, { nodes }) => {
    const initializers = [
      int64s('zero', [1], [0]),
      int64s('one', [1], [2]),
      int64s('size', [2], [4000, 4]),
      floats('tail', [2], [1, 2])
    ]
    const run = await session(
      { nodes, initializers, outputs: [port('y', 'float'), port('x', 'float', ['n'])] },
      2 * bytes
    )
    await expect(run.run({ x: zeros(10_000) }, ['y'])).resolves.toBeDefined()
  })

  test('also where results may be what the caller holds', async () => {
    const parts: Parts = {
      inputs: [
        { name: 'list', type: { sequenceType: { elemType: { tensorType: { elemType: 1, shape: { dim: [{}] } } } } } },
        port('x', 'float', ['n'])
      ],
      initializers: [int64s('at', [], [0])],
      nodes: [
        node('SequenceAt', ['list', 'at'], ['a']),
        node('Dropout', ['x'], ['b']),
        node('ReduceSum', ['a'], ['c']),
        node('ReduceSum', ['b'], ['d']),
        node('Add', ['c', 'd'], ['y'])
      ]
    }
    const list: Value = { type: 'sequence', values: [zeros(20_000)] }
    const { y } = await (await session(parts, 1000)).run({ list, x: zeros(10_000) })
    expect(y.data).toEqual(Float32Array.of(0))
  })
})
