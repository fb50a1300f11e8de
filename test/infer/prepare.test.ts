import { describe, expect, test, vi } from 'vitest'
import type { Call } from '../../src/bind/call.ts'
import { byOperand } from '../../src/bind/operands.ts'
import { Earlier } from '../../src/infer/earlier.ts'
import { Likes } from '../../src/infer/likes.ts'
import { type CallMemo, prepareRun, type RunPreparation, withoutSelection } from '../../src/infer/prepare.ts'
import type { Kernel, Selection, SelectKernel } from '../../src/op-kit/define.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { callOf, type Kind } from '../ops/harness.ts'
import { ints } from '../ops/values.ts'

const data = (...dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), dims)
const RESHAPE: Kind = ['onnx', 'Reshape', 14]

const prepare = (call: Call, inputs: readonly Value[], memo?: CallMemo, select?: SelectKernel): RunPreparation =>
  prepareRun(call, inputs, byOperand(call, inputs), { select }, memo)

describe('what a call worked out', () => {
  const call = callOf(RESHAPE, [data(2, 3), ints(3, 2)], {})
  const memoOf = (...inputs: Tensor[]): CallMemo => {
    const memo: CallMemo = {}
    prepare(call, inputs, memo)
    return memo
  }
  const dimsFor = (...inputs: Tensor[]): unknown => {
    const [fact] = prepare(call, inputs, memoOf(data(2, 3), ints(3, 2))).outputs
    return fact.kind === 'tensor' && fact.shape
  }

  test('has one form, whether it is kept, and whether a kernel was selected', () => {
    const select: SelectKernel = () => ({ kernel: () => undefined })
    const made = [{}, undefined].flatMap(memo =>
      [undefined, select].map(by => prepare(call, [data(2, 3), ints(3, 2)], memo, by))
    )
    const forms = [...made, withoutSelection(made[0])].map(preparation => Object.keys(preparation).join(', '))
    expect(new Set(forms).size).toBe(1)
  })

  test('serves again for inputs of the same types, dims and looked-at elements', () => {
    const memo = memoOf(data(2, 3), ints(3, 2))
    const { kept } = memo
    expect(kept).toBeDefined()
    expect(prepare(call, [data(2, 3), ints(3, 2)], memo)).toBe(kept)
  })

  test('is kept for some inputs in turn', () => {
    const memo: CallMemo = { earlier: new Earlier(12) }
    const targets = [ints(3, 2), ints(6), ints(2, 3), ints(1, 6)]
    const made = targets.map(target => prepare(call, [data(2, 3), target], memo))
    for (const i of [0, 1, 2, 3, 1, 1, 0]) expect(prepare(call, [data(2, 3), targets[i]], memo)).toBe(made[i])
    expect(made.map(({ outputs: [fact] }) => fact.kind === 'tensor' && fact.shape)).toEqual([
      [3, 2],
      [6],
      [2, 3],
      [1, 6]
    ])
    // No more than twelve are kept.
    for (let n = 1; n <= 20; n++) prepare(call, [data(2, 3 * n), ints(6 * n)], memo)
    for (const i of [0, 1, 2, 3]) expect(made).not.toContain(prepare(call, [data(2, 3), targets[i]], memo))
  })

  test('is not that for another type, which has the same hash', () => {
    const memo: CallMemo = { earlier: new Earlier(12) }
    for (const n of [2, 3]) prepare(call, [data(n, 3), ints(3, n)], memo)
    const [fact] = prepare(call, [new Tensor('int32', [1, 2, 3, 4, 5, 6], [2, 3]), ints(3, 2)], memo).outputs
    expect(fact.kind === 'tensor' && fact.type).toBe('int32')
  })

  test('serves calls like it once both have been prepared before, each with a selection of its own', () => {
    const likes: CallMemo['likes'] = new Likes()
    const shape = vi.spyOn(call.op, 'shape')
    const select: SelectKernel = () => ({ kernel: () => undefined })
    const prepared = (of: Call, memo: CallMemo, ...inputs: Tensor[]): RunPreparation =>
      prepare(of, inputs, memo, select)
    const memos: CallMemo[] = [{ likes }, { likes }, { likes }]
    const other = callOf(RESHAPE, [data(2, 3), ints(3, 2)], { attributes: { allowzero: 1 } })
    const calls = [call, callOf(RESHAPE, [data(2, 3), ints(3, 2)], {}), other]
    calls.forEach((each, i) => prepared(each, memos[i], data(2, 3), ints(3, 2)))
    expect(shape).toHaveBeenCalledTimes(3)
    const [first, second, third] = calls.map((each, i) => prepared(each, memos[i], data(4, 3), ints(6, 2)))
    expect(shape).toHaveBeenCalledTimes(5)
    expect(second.outputs).toBe(first.outputs)
    expect(second.selection).not.toBe(first.selection)
    expect(third.outputs).not.toBe(first.outputs)
    // Elements that were looked at count as well.
    expect(prepared(calls[1], memos[1], data(4, 3), ints(3, 4)).outputs).toMatchObject([{ shape: [3, 4] }])
    expect(shape).toHaveBeenCalledTimes(6)
    shape.mockRestore()
  })

  test('is worked out anew for other dims or elements', () => {
    expect(dimsFor(data(2, 3), ints(6))).toEqual([6])
    expect(dimsFor(data(2, 3), ints(2, 3))).toEqual([2, 3])
    expect(dimsFor(data(3, 4), ints(6, 2))).toEqual([6, 2])
  })

  test('is worked out anew for another type', () => {
    const other = new Tensor('int32', new Int32Array(6), [2, 3])
    const memo = memoOf(data(2, 3), ints(3, 2))
    expect(prepare(call, [other, ints(3, 2)], memo).outputs[0]).toMatchObject({ type: 'int32' })
  })

  test('still throws what does not fit', () => {
    expect(() => prepare(call, [data(2, 3), ints(5)], memoOf(data(2, 3), ints(3, 2)))).toThrow('5')
  })

  test('does not depend on what a caller does to the tensors afterwards', () => {
    const [tensor, target] = [data(2, 3), ints(3, 2)]
    const memo: CallMemo = {}
    prepare(call, [tensor, target], memo)
    const { kept } = memo
    target.data[0] = 6n
    ;(tensor.dims as number[])[0] = 4
    expect(prepare(call, [data(2, 3), ints(3, 2)], memo)).toBe(kept)
    expect(() => prepare(call, [data(2, 3), target], memo)).toThrow('12')
  })

  test('holds no tensor, and dims that nobody can change', () => {
    const identity = callOf(['onnx', 'Identity', 13], [data(2)], {})
    const [fact] = prepare(identity, [data(2)], {}).outputs
    expect(fact).not.toHaveProperty('value')
    expect(fact.kind === 'tensor' && Object.isFrozen(fact.shape)).toBe(true)
  })

  test('is not kept where many elements were looked at, and made once all the same', () => {
    const repeats = ints(...new Array<number>(65).fill(1))
    const split = callOf(['onnx', 'Split', 13], [data(65), repeats], { outputs: 65 })
    const shape = vi.spyOn(split.op, 'shape')
    const memo: CallMemo = {}
    expect(prepare(split, [data(65), repeats], memo).outputs).toHaveLength(65)
    expect(memo.kept).toBeUndefined()
    expect(shape).toHaveBeenCalledTimes(1)
    shape.mockRestore()
  })

  test('is not kept where an input is no tensor', () => {
    const sequence = { type: 'sequence', values: [data(1)] } as const
    const memo: CallMemo = {}
    prepare(callOf(['onnx', 'SequenceLength', 11], [sequence], {}), [sequence], memo)
    expect(memo.kept).toBeUndefined()
  })
})

describe('the kernel that is selected', () => {
  const kernel: Kernel = () => undefined
  const call = callOf(['onnx', 'Identity', 13], [data(2)], {})

  test('is asked for once for a preparation that holds, whatever the answer', () => {
    for (const selection of [undefined, { kernel }]) {
      const select = vi.fn((): Selection | undefined => selection)
      const memo: CallMemo = {}
      for (let run = 0; run < 3; run++) expect(prepare(call, [data(2)], memo, select).selection).toBe(selection)
      expect(select).toHaveBeenCalledTimes(1)
      prepare(call, [data(3)], memo, select)
      expect(select).toHaveBeenCalledTimes(2)
    }
  })

  test('is told the operator, its operands and what was prepared', () => {
    const select = vi.fn((): undefined => undefined)
    const x = data(2)
    const { parameters, outputs } = prepare(call, [x], {}, select)
    expect(select).toHaveBeenCalledExactlyOnceWith(call.op, { input: x }, { parameters, outputs })
  })

  test('is asked for again where it does not hold for other operands, and nothing is prepared anew', () => {
    const [first, second] = [data(2), data(2)]
    const select = vi.fn(({}, { input }): Selection => ({ kernel, holds: other => other.input === input }))
    const shape = vi.spyOn(call.op, 'shape')
    const memo: CallMemo = {}
    for (const input of [first, first, second, second, first]) prepare(call, [input], memo, select)
    expect(select).toHaveBeenCalledTimes(3)
    expect(shape).toHaveBeenCalledTimes(1)
    shape.mockRestore()
  })
})
