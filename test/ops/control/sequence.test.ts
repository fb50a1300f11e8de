import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../../src/index.ts'
import { type Sequence, Tensor } from '../../../src/tensor/tensor.ts'
import { type GraphParts, type ModelParts, node, onnxModel, port } from '../../fixtures/onnx.ts'
import { dimsOf, errorOf, fact, inferOp, runOp } from '../harness.ts'
import { float, inferOnnx, plain, rejection, runOnnx, scalar, sequencePort } from '../model.ts'

const list = (...values: Tensor[]): Sequence => ({ type: 'sequence', values })
const abc = list(float(1), float(2, 3), float(4))
const run = (type: string, inputs: Parameters<typeof runOp>[1], attributes = {}): unknown =>
  plain(runOp(['onnx', type, 17], inputs, { attributes })[0])
const codeOf = (...of: Parameters<typeof run>): string => errorOf(() => run(...of)).code

describe('sequences', () => {
  test('are made empty or of tensors', () => {
    expect(run('SequenceEmpty', [])).toEqual([])
    expect(run('SequenceConstruct', [float(1), float(2, 3)])).toEqual([
      [[1], 1],
      [[2], 2, 3]
    ])
    expect(codeOf('SequenceConstruct', [float(1), scalar(1)])).toBe('type-mismatch')
  })

  test('know their length', () => {
    expect(run('SequenceLength', [abc])).toEqual([[], 3])
    expect(run('SequenceLength', [list()])).toEqual([[], 0])
  })

  test('take a tensor in before a position, at the end without one', () => {
    expect(run('SequenceInsert', [abc, float(9)])).toEqual([
      [[1], 1],
      [[2], 2, 3],
      [[1], 4],
      [[1], 9]
    ])
    expect(run('SequenceInsert', [abc, float(9), scalar(0)])).toEqual([
      [[1], 9],
      [[1], 1],
      [[2], 2, 3],
      [[1], 4]
    ])
    expect(run('SequenceInsert', [abc, float(9), scalar(-1)])).toEqual([
      [[1], 1],
      [[2], 2, 3],
      [[1], 9],
      [[1], 4]
    ])
    expect(run('SequenceInsert', [abc, float(9), new Tensor('int32', [3])])).toEqual([
      [[1], 1],
      [[2], 2, 3],
      [[1], 4],
      [[1], 9]
    ])
    expect(codeOf('SequenceInsert', [abc, scalar(9)])).toBe('type-mismatch')
  })

  test('give out and give up the tensor at a position', () => {
    expect(run('SequenceAt', [abc, scalar(1)])).toEqual([[2], 2, 3])
    expect(run('SequenceAt', [abc, scalar(-3)])).toEqual([[1], 1])
    expect(run('SequenceErase', [abc, scalar(1)])).toEqual([
      [[1], 1],
      [[1], 4]
    ])
    expect(run('SequenceErase', [abc])).toEqual([
      [[1], 1],
      [[2], 2, 3]
    ])
  })

  test('refuse positions out of range, however large', () => {
    for (const [type, inputs] of [
      ['SequenceAt', [abc, scalar(3)]],
      ['SequenceErase', [abc, scalar(-4)]],
      ['SequenceErase', [list()]],
      ['SequenceInsert', [abc, float(1), scalar(4)]]
    ] as const) {
      expect(codeOf(type, inputs)).toBe('index-out-of-range')
    }
    const error = errorOf(() => run('SequenceAt', [abc, new Tensor('int64', [-(2n ** 63n)], [])]))
    expect(error.details).toMatchObject({ index: '-9223372036854775808', size: 3 })
    expect(error.message).toBe(
      'position -9223372036854775808 is out of range for a sequence of length 3; expected -3..2'
    )
    expect(codeOf('SequenceAt', [abc, new Tensor('int64', [0n, 1n])])).toBe('dims-mismatch')
  })

  test('are not tensors, and tensors are no sequences', () => {
    expect(codeOf('SequenceAt', [float(1), scalar(0)])).toBe('type-not-allowed')
    expect(codeOf('Neg', [list()])).toBe('type-not-allowed')
  })
})

describe('facts about sequences', () => {
  const infer = (type: string, inputs: Parameters<typeof inferOp>[1], attributes = {}): ReturnType<typeof inferOp>[0] =>
    inferOp(['onnx', type, 17], inputs, { attributes })[0]

  test('say what holds of every element and how many there are', () => {
    const made = infer('SequenceConstruct', [fact('float32', [2, 'n']), fact('float32', [4, 'n'])])
    expect(made).toMatchObject({ kind: 'sequence', length: 2 })
    expect(dimsOf(infer('SequenceAt', [made, scalar(0)]))).toEqual(['2..4', 'n'])
    const longer = infer('SequenceInsert', [made, fact('float32', [3, 'n'])])
    expect(longer).toMatchObject({ kind: 'sequence', length: 3 })
    expect(infer('SequenceErase', [longer])).toMatchObject({ length: 2 })
    expect(infer('SequenceLength', [longer])).toMatchObject({ value: { data: BigInt64Array.of(3n) } })
  })

  test("an empty sequence takes its elements' dims from what is put in, but not its type", () => {
    const empty = infer('SequenceEmpty', [], { dtype: 7 })
    expect(infer('SequenceInsert', [empty, fact('int64', [2, 3])])).toMatchObject({
      length: 1,
      element: { type: 'int64', shape: [2, 3] }
    })
    expect(errorOf(() => infer('SequenceInsert', [empty, fact('float32', [2])])).code).toBe('type-mismatch')
  })

  test('a known position is checked before the run', () => {
    const two = infer('SequenceConstruct', [fact('float32', [1]), fact('float32', [1])])
    expect(errorOf(() => infer('SequenceAt', [two, scalar(2)])).code).toBe('index-out-of-range')
    expect(errorOf(() => infer('SequenceErase', [two, scalar(-3)])).code).toBe('index-out-of-range')
    expect(errorOf(() => infer('SequenceInsert', [two, fact('float32', [1]), scalar(3)])).code).toBe(
      'index-out-of-range'
    )
    expect(infer('SequenceInsert', [two, fact('float32', [1]), scalar(2)])).toMatchObject({ length: 3 })
  })
})

describe('SplitToSequence', () => {
  const matrix = new Tensor('int32', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 5])
  const split = (sizes: Tensor | undefined, attributes = {}): unknown =>
    run('SplitToSequence', [matrix, sizes], attributes)

  test('cuts into parts of one size, the last smaller', () => {
    expect(split(scalar(2), { axis: 1 })).toEqual([
      [[2, 2], 1, 2, 6, 7],
      [[2, 2], 3, 4, 8, 9],
      [[2, 1], 5, 10]
    ])
    expect(split(scalar(9), { axis: -1 })).toEqual([[[2, 5], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
  })

  test('cuts into parts of given sizes, empty ones too, and keeps the axis then', () => {
    expect(split(new Tensor('int64', [4n, 0n, 1n]), { axis: 1, keepdims: 0 })).toEqual([
      [[2, 4], 1, 2, 3, 4, 6, 7, 8, 9],
      [[2, 0]],
      [[2, 1], 5, 10]
    ])
  })

  test('without sizes cuts into ones, whose axis goes when asked', () => {
    expect(split(undefined)).toEqual([
      [[1, 5], 1, 2, 3, 4, 5],
      [[1, 5], 6, 7, 8, 9, 10]
    ])
    expect(split(undefined, { keepdims: 0 })).toEqual([
      [[5], 1, 2, 3, 4, 5],
      [[5], 6, 7, 8, 9, 10]
    ])
  })

  test('refuses sizes that do not add up, are negative or, as the one size, zero', () => {
    for (const sizes of [new Tensor('int64', [4n]), new Tensor('int64', [6n, -1n]), scalar(0)]) {
      expect(errorOf(() => split(sizes, { axis: 1 })).code).toBe('value-out-of-range')
    }
    expect(errorOf(() => split(new Tensor('int64', [5n], [1, 1]), { axis: 1 })).code).toBe('rank-mismatch')
    expect(errorOf(() => split(undefined, { axis: 2 })).code).toBe('axis-out-of-range')
  })

  test('its shape rule counts parts and bounds their size', () => {
    const of = (dims: (number | string)[], sizes: Tensor | undefined, attributes = {}): unknown => {
      const [found] = inferOp(['onnx', 'SplitToSequence', 24], [fact('float32', dims), sizes], { attributes })
      return found.kind === 'sequence' ? [found.length, dimsOf(found.element)] : undefined
    }
    expect(of([2, 6], scalar(3), { axis: 1 })).toEqual([2, [2, 3]])
    expect(of([2, 7], scalar(3), { axis: 1 })).toEqual([3, [2, '1..3']])
    expect(of([2, 7], new Tensor('int64', [3n, 4n]), { axis: 1 })).toEqual([2, [2, '3..4']])
    expect(of([2, 7], undefined, { keepdims: 0 })).toEqual([2, [7]])
    expect(of(['n', 7], undefined)).toMatchObject([{ key: 'n' }, [1, 7]])
  })
})

describe('ConcatFromSequence', () => {
  const pair = list(new Tensor('float32', [1, 2], [1, 2]), new Tensor('float32', [3, 4], [1, 2]))

  test('joins along an axis or stacks along a new one', () => {
    expect(run('ConcatFromSequence', [pair], { axis: 0 })).toEqual([[2, 2], 1, 2, 3, 4])
    expect(run('ConcatFromSequence', [pair], { axis: -1 })).toEqual([[1, 4], 1, 2, 3, 4])
    expect(run('ConcatFromSequence', [pair], { axis: 2, new_axis: 1 })).toEqual([[1, 2, 2], 1, 3, 2, 4])
    expect(run('ConcatFromSequence', [pair], { axis: -3, new_axis: 1 })).toEqual([[2, 1, 2], 1, 2, 3, 4])
  })

  test('refuses an empty sequence, dims that do not fit and far axes', () => {
    expect(codeOf('ConcatFromSequence', [list()], { axis: 0 })).toBe('value-out-of-range')
    expect(codeOf('ConcatFromSequence', [list(float(1), float(1, 2))], { axis: 0, new_axis: 1 })).toBe('dims-mismatch')
    expect(codeOf('ConcatFromSequence', [list(float(1), new Tensor('float32', [1], [1, 1]))], { axis: 0 })).toBe(
      'rank-mismatch'
    )
    expect(codeOf('ConcatFromSequence', [pair], { axis: 2 })).toBe('axis-out-of-range')
    expect(codeOf('ConcatFromSequence', [list(new Tensor('float32', [1], []))], { axis: 0 })).toBe('axis-out-of-range')
  })
})

describe('SequenceMap', () => {
  const model = (graph: GraphParts, outputs: readonly string[] = ['y']): ModelParts => ({
    inputs: [sequencePort('a', 'float', ['n']), sequencePort('b', 'float', ['n']), port('w', 'float', [1])],
    nodes: [node('SequenceMap', ['a', 'b', 'w'], outputs, { body: { graph } })],
    outputs: outputs.map(name => sequencePort(name, 'float'))
  })
  const mapped: GraphParts = {
    inputs: [port('i', 'float', ['n']), port('j', 'float', ['n']), port('k', 'float', [1])],
    nodes: [node('Mul', ['i', 'j'], ['p']), node('Add', ['p', 'k'], ['q'])],
    outputs: [port('p', 'float'), port('q', 'float')]
  }

  test('applies its body to elements side by side, and whole tensors to each', async () => {
    const feeds = { a: list(float(1, 2), float(3)), b: list(float(5, 6), float(7)), w: float(100) }
    expect(await runOnnx(model(mapped, ['y', 'z']), feeds)).toEqual({
      y: [
        [[2], 5, 12],
        [[1], 21]
      ],
      z: [
        [[2], 105, 112],
        [[1], 121]
      ]
    })
    expect(await runOnnx(model(mapped), { ...feeds, a: list(), b: list() })).toEqual({ y: [] })
  })

  test('refuses sequences of different lengths and bodies with other inputs', async () => {
    expect((await rejection(runOnnx(model(mapped), { a: list(float(1)), b: list(), w: float(1) }))).code).toBe(
      'dims-mismatch'
    )
    expect(
      (
        await rejection(
          runOnnx(model({ ...mapped, inputs: [port('i', 'float')] }), { a: list(), b: list(), w: float(1) })
        )
      ).code
    ).toBe('invalid-graph')
  })

  test("its shape rule maps the elements' dims", async () => {
    const two = { ...model(mapped), inputs: [port('t', 'float', [2, 3]), port('w', 'float', [1])] }
    const nodes = [
      node('SplitToSequence', ['t'], ['a'], { keepdims: 0 }),
      node('SequenceMap', ['a', 'a', 'w'], ['y'], { body: { graph: mapped } })
    ]
    expect(await inferOnnx({ ...two, nodes })).toEqual({ y: '2 of [3]' })
  })
})

test('tensors that go into a sequence and come out as outputs are copies', async () => {
  const model: ModelParts = {
    inputs: [port('x', 'float', [1])],
    nodes: [node('SequenceConstruct', ['x'], ['y'])],
    outputs: [sequencePort('y', 'float')]
  }
  const x = float(1)
  const { y } = await new InferenceSession(await onnxModel(model)).run({ x })
  expect(y).toMatchObject({ type: 'sequence', values: [{ data: Float32Array.of(1) }] })
  x.data[0] = 2
  expect(plain(y)).toEqual([[[1], 1]])
})
