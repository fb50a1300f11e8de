import { describe, expect, test } from 'vitest'
import { type Elem, type PartialTensor, tensorFact } from '../../../src/shapes/fact.ts'
import { named } from '../../../src/shapes/sym.ts'
import { ALL_DTYPES } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'

const ONNX: Kind = ['onnx', 'Where', 16]
const SELECT: Kind = ['openvino', 'Select', 1]
const flags = (values: boolean[], dims?: number[]): Tensor => new Tensor('bool', values, dims)
const floats = (values: number[], dims?: number[]): Tensor => new Tensor('float32', values, dims)

describe('Where and Select', () => {
  test('take elements from one or the other', () => {
    const cond = flags([false, false, true, false, true, true], [3, 2])
    const out = runTensor(SELECT, [cond, floats([-1, 0, 1, 2, 3, 4], [3, 2]), floats([11, 10, 9, 8, 7, 6], [3, 2])])
    expect([...out.data]).toEqual([11, 10, 1, 8, 3, 4])
  })

  test('broadcast all three', () => {
    const out = runTensor(ONNX, [flags([true, false], [2, 1]), floats([1, 2, 3], [3]), floats([9], [])])
    expect(out.dims).toEqual([2, 3])
    expect([...out.data]).toEqual([1, 2, 3, 9, 9, 9])
    expect(runTensor(ONNX, [flags([], [0, 1]), floats([1, 2, 3], [3]), floats([9], [])]).dims).toEqual([0, 3])
  })

  test('move every element type', () => {
    for (const type of ALL_DTYPES) {
      const [a, b] = [counted(type, [2]), counted(type, [2])]
      b.data.reverse()
      const slots = a.data.length / 2
      expect([...(runTensor(SELECT, [flags([true, false]), a, b]).data as Uint8Array)], type).toEqual([
        ...a.data.slice(0, slots),
        ...b.data.slice(slots)
      ])
    }
  })

  test('no broadcasting and that of PaddlePaddle', () => {
    const none = { attributes: { auto_broadcast: 'none' } }
    expect(errorOf(() => runTensor(SELECT, [flags([true]), floats([1, 2]), floats([3, 4])], none)).code).toBe(
      'shape-mismatch'
    )
    const pdpd = { attributes: { auto_broadcast: 'pdpd', 'auto_broadcast.auto_broadcast_axis': 0 } }
    const out = runTensor(SELECT, [flags([true, false]), floats([1, 2, 3, 4], [2, 2]), floats([8, 9])], pdpd)
    expect([...out.data]).toEqual([1, 2, 9, 9])
    const columns = { attributes: { auto_broadcast: 'pdpd', 'auto_broadcast.auto_broadcast_axis': 1 } }
    expect([
      ...runTensor(SELECT, [flags([true, false]), floats([1, 2, 3, 4], [2, 2]), floats([8, 9])], columns).data
    ]).toEqual([1, 9, 3, 9])
  })

  test('the branches have one type, the condition is boolean', () => {
    expect(errorOf(() => runTensor(SELECT, [flags([true]), floats([1]), new Tensor('int32', [1])])).code).toBe(
      'type-mismatch'
    )
    expect(errorOf(() => runTensor(SELECT, [floats([1]), floats([1]), floats([1])])).code).toBe('type-not-allowed')
    expect(errorOf(() => runTensor(ONNX, [flags([true]), floats([1, 2]), floats([1, 2, 3])])).code).toBe(
      'shape-mismatch'
    )
  })

  test('the shape is that of the broadcast', () => {
    expect(dimsOf(inferOp(ONNX, [fact('bool', ['n', 1]), fact('float32', [4]), fact('float32', [])])[0])).toEqual([
      'n',
      4
    ])
    expect(dimsOf(inferOp(ONNX, [fact('bool'), fact('float32', [4]), fact('float32', [])])[0])).toBeUndefined()
  })

  test('symbolic elements: the one chosen, what both share, or their bounds', () => {
    const [n, c] = [named('n', 1, 8), named('c', 0, 1)]
    const partial = (type: PartialTensor['type'], data: Elem[]): ReturnType<typeof tensorFact> =>
      tensorFact(type, [data.length], { type, dims: [data.length], data })
    const value = (condition: Elem[], a: Elem[], b: Elem[]): readonly Elem[] | undefined => {
      const [out] = inferOp(ONNX, [partial('bool', condition), partial('int64', a), partial('int64', b)])
      return out.kind === 'tensor' ? (out.value?.data as readonly Elem[]) : undefined
    }
    expect(value([true, false, c], [n, n, n], [3n, 4n, n])).toEqual([n, 4n, n])
    expect(value([c, true], [n, n], [12n, 1n])?.[0]).toMatchObject({ min: 1, max: 12 })
  })
})
