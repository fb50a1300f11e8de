import { describe, expect, test } from 'vitest'
import { elementCount, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'AttnLSTM', 1, 'com.microsoft']
type Given = (Tensor | undefined)[]
/** `start`, `start + step` … in dims. */
const up = (start: number, step: number, ...dims: number[]): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: elementCount(dims) }, (_, i) => start + step * i),
    dims
  )
const i32 = (...values: number[]): Tensor => new Tensor('int32', values, [values.length])

/** Two steps of two sequences; a memory of two rows of two, one unit of attention, one hidden element. */
const inputs = (directions: number, width: number, layer?: Tensor): Given => [
  up(-1, 0.5, 2, 2, 1),
  up(0.5, -0.2, directions, 4, 1 + width),
  up(0.3, -0.1, directions, 4, 1),
  up(0.1, 0.05, directions, 8),
  i32(2, 1),
  undefined,
  undefined,
  undefined,
  up(0.5, 0.5, directions, 1, 1),
  up(1, -0.5, directions, 2, 1),
  up(2, 1, directions, 1),
  up(-1, 0.4, 2, 2, 2),
  i32(2, 1),
  layer
]
const run = (given: Given, attributes: Record<string, string> = {}): Tensor[] =>
  runOp(KIND, given, { attributes: { hidden_size: 1, ...attributes }, outputs: 3 }) as Tensor[]

// Expected values are those of ONNX Runtime.
describe('AttnLSTM', () => {
  test('the gates get what was attended to after the step before', () => {
    const [y, h, c] = run(inputs(1, 2))
    expectNear(y, [0.276598, 0.277746, 0.425403, 0])
    expectNear(h, [0.425403, 0.277746])
    expectNear(c, [0.78569, 0.469742])
  })

  test('or what a layer makes of it and of the hidden state', () => {
    const [y, , c] = run(inputs(1, 1, up(0.5, 0.25, 1, 3, 1)))
    expectNear(y, [0.23792, 0.242467, 0.368214, 0])
    expectNear(c, [0.662671, 0.420166])
  })

  test('each direction has an attention of its own', () => {
    const [y, h] = run(inputs(2, 2), { direction: 'bidirectional' })
    expect(y.dims).toEqual([2, 2, 2, 1])
    expectNear(y, [0.276598, 0.277746, 0.933309, 0.661454, 0.425403, 0, 0.472747, 0])
    expectNear(h, [0.425403, 0.277746, 0.933309, 0.661454])
  })

  test('without lengths all of the memory counts', () => {
    const given = inputs(1, 2)
    const whole = run(given.with(12, i32(2, 2)))[1]
    expectNear(run(given.with(12, undefined))[1], [...(whole.data as Float32Array)])
    for (const length of [0, 3])
      expect(errorOf(() => run(given.with(12, i32(2, length)))).code).toBe('value-out-of-range')
  })

  test('operands must fit', () => {
    const code = (at: number, tensor?: Tensor): string => errorOf(() => run(inputs(1, 2).with(at, tensor))).code
    for (const at of [8, 9, 10, 11]) expect(code(at)).toBe('missing-input')
    expect(code(1, up(0, 1, 1, 4, 1))).toBe('dims-mismatch')
    expect(code(1, up(0, 1, 1, 4, 4))).toBe('dims-mismatch')
    expect(code(8, up(0, 1, 1, 2, 1))).toBe('dims-mismatch')
    expect(code(9, up(0, 1, 1, 2, 2))).toBe('dims-mismatch')
    expect(code(10, up(0, 1, 1, 2))).toBe('dims-mismatch')
    expect(code(11, up(0, 1, 1, 2, 2))).toBe('dims-mismatch')
    expect(code(12, i32(1))).toBe('dims-mismatch')
    expect(code(13, up(0, 1, 1, 2, 2))).toBe('dims-mismatch')
  })

  test('shapes stay symbolic', () => {
    const facts = [
      fact('float32', ['t', 'b', 3]),
      fact('float32', [1, 16, 8]),
      fact('float32', [1, 16, 4]),
      ...new Array<undefined>(5).fill(undefined),
      fact('float32', [1, 4, 6]),
      fact('float32', [1, 5, 6]),
      fact('float32', [1, 6]),
      fact('float32', ['b', 'm', 5])
    ]
    expect(inferOp(KIND, facts, { outputs: 3 }).map(dimsOf)).toEqual([
      ['t', 1, 'b', 4],
      [1, 'b', 4],
      [1, 'b', 4]
    ])
  })
})
