import { describe, expect, test } from 'vitest'
import type { Tensor, Value } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const parts = (values: Value[]): unknown[] => values.map(value => [...(value as Tensor).data])
const split = (kind: Kind, inputs: (Tensor | undefined)[], outputs: number, attributes = {}): Tensor[] =>
  runOp(kind, inputs, { outputs, attributes }) as Tensor[]

describe('ONNX Split', () => {
  test('cuts along any axis', () => {
    const out = split(['onnx', 'Split', 13], [iota([2, 4]), ints(1, 3)], 2, { axis: -1 })
    expect(out.map(part => part.dims)).toEqual([
      [2, 1],
      [2, 3]
    ])
    expect(parts(out)).toEqual([
      [0, 4],
      [1, 2, 3, 5, 6, 7]
    ])
    expect(parts(split(['onnx', 'Split', 2], [iota([4, 1], 'string')], 2))).toEqual([
      ['0', '1'],
      ['2', '3']
    ])
    expect(split(['onnx', 'Split', 13], [iota([2]), ints(0, 2)], 2).map(part => part.dims)).toEqual([[0], [2]])
  })

  test.each(['float32', 'int64', 'float16', 'bool', 'string'] as const)(
    'cuts one line into what the first of several lines is cut into: %s',
    type => {
      const cut = (lines: number): unknown[][] =>
        split(['onnx', 'Split', 13], [iota([lines, 5, 3], type), ints(2, 0, 3)], 3, { axis: 1 }).map(({ data }) => [
          ...data
        ])
      expect(cut(1)).toEqual(cut(2).map(part => part.slice(0, part.length / 2)))
      const rest = runOp(['onnx', 'Split', 13], [iota([1, 5, 3], type), ints(2, 0, 3)], {
        outputs: 3,
        attributes: { axis: 1 },
        unwanted: [0, 1]
      })
      expect(parts(rest.slice(2))).toEqual(cut(1).slice(2))
    }
  )

  test.each(['float32', 'int64', 'string'] as const)('cuts no line at all into empty parts: %s', type => {
    const out = split(['onnx', 'Split', 13], [iota([0, 5, 3], type), ints(2, 3)], 2, { axis: 1 })
    expect(out.map(({ dims }) => dims)).toEqual([
      [0, 2, 3],
      [0, 3, 3]
    ])
    expect(parts(out)).toEqual([[], []])
  })

  test('versions 2 and 11 have the sizes as an attribute, 1 as attribute or input', () => {
    expect(parts(split(['onnx', 'Split', 11], [iota([3])], 2, { split: [1, 2] }))).toEqual([[0], [1, 2]])
    expect(parts(split(['onnx', 'Split', 1], [iota([3])], 2, { split: [2, 1], axis: 0 }))).toEqual([[0, 1], [2]])
    expect(parts(split(['onnx', 'Split', 1], [iota([3]), iota([3])], 3, { axis: 0 }).slice(1))).toEqual([[0], [1, 2]])
  })

  test('version 18 lets the last part be smaller', () => {
    expect(parts(split(['onnx', 'Split', 18], [iota([7])], 3, { num_outputs: 3 }))).toEqual([[0, 1, 2], [3, 4, 5], [6]])
    expect(errorOf(() => split(['onnx', 'Split', 18], [iota([7])], 5, { num_outputs: 5 })).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => split(['onnx', 'Split', 18], [iota([6])], 2)).code).toBe('missing-attribute')
    expect(errorOf(() => split(['onnx', 'Split', 18], [iota([7])], 2, { num_outputs: 3 })).code).toBe('shape-mismatch')
    expect(
      errorOf(() => split(['openvino', 'Split', 1], [iota([0]), scalar(0)], 2, { num_splits: '1000000000000' })).code
    ).toBe('shape-mismatch')
    expect(errorOf(() => split(['onnx', 'Split', 18], [iota([6]), ints(3, 3)], 2, { num_outputs: 2 })).code).toBe(
      'wrong-input-count'
    )
  })

  test('refuses parts that do not add up', () => {
    expect(errorOf(() => split(['onnx', 'Split', 13], [iota([7])], 2)).code).toBe('shape-mismatch')
    expect(errorOf(() => split(['onnx', 'Split', 13], [iota([7]), ints(3, 3)], 2)).message).toBe(
      'sizes [3, 3] add up to 6; the axis has 7'
    )
    expect(errorOf(() => split(['onnx', 'Split', 13], [iota([7]), ints(8, -1)], 2)).code).toBe('value-out-of-range')
    expect(errorOf(() => split(['onnx', 'Split', 13], [iota([6]), ints(3, 3)], 3)).code).toBe('shape-mismatch')
    expect(errorOf(() => split(['onnx', 'Split', 13], [iota([6])], 2, { axis: 1 })).code).toBe('axis-out-of-range')
  })
})

describe('OpenVINO Split and VariadicSplit', () => {
  test('Split-1 makes equal parts', () => {
    expect(parts(split(['openvino', 'Split', 1], [iota([2, 3]), scalar(-1)], 3, { num_splits: 3 }))).toEqual([
      [0, 3],
      [1, 4],
      [2, 5]
    ])
    expect(errorOf(() => split(['openvino', 'Split', 1], [iota([4]), scalar(0)], 3, { num_splits: 3 })).code).toBe(
      'shape-mismatch'
    )
    expect(errorOf(() => split(['openvino', 'Split', 1], [iota([4]), scalar(0)], 1, { num_splits: 0 })).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => split(['openvino', 'Split', 1], [iota([4]), scalar(0)], 1)).code).toBe('missing-attribute')
  })

  test('VariadicSplit-1 works one -1 out', () => {
    expect(parts(split(['openvino', 'VariadicSplit', 1], [iota([6]), scalar(0), ints(1, -1, 2)], 3))).toEqual([
      [0],
      [1, 2, 3],
      [4, 5]
    ])
    expect(
      split(['openvino', 'VariadicSplit', 1], [iota([6]), ints(0), ints(6, -1)], 2).map(part => part.dims)
    ).toEqual([[6], [0]])
    expect(errorOf(() => split(['openvino', 'VariadicSplit', 1], [iota([6]), scalar(0), ints(7, -1)], 2)).code).toBe(
      'shape-mismatch'
    )
    expect(errorOf(() => split(['openvino', 'VariadicSplit', 1], [iota([6]), scalar(0), ints(-1, -1)], 2)).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => split(['openvino', 'VariadicSplit', 1], [iota([6]), iota([]), ints(6)], 1)).code).toBe(
      'type-not-allowed'
    )
  })
})

describe('the shape rule of Split', () => {
  const of = (kind: Kind, inputs: Parameters<typeof inferOp>[1], outputs: number, attributes = {}): unknown =>
    inferOp(kind, inputs, { outputs, attributes }).map(dimsOf)

  test('cuts symbolic dims', () => {
    expect(of(['onnx', 'Split', 13], [fact('float32', ['n', 'm']), ints(1, 2)], 2, { axis: 1 })).toEqual([
      ['n', 1],
      ['n', 2]
    ])
    expect(of(['openvino', 'VariadicSplit', 1], [fact('float32', ['n']), scalar(0), ints(2, -1)], 2)).toEqual([
      [2],
      ['n-2']
    ])
    const [twice] = inferOp(['onnx', 'Concat', 13], [fact('float32', ['n']), fact('float32', ['n'])], {
      attributes: { axis: 0 }
    })
    expect(of(['onnx', 'Split', 13], [twice], 2)).toEqual([['n'], ['n']])
    expect(errorOf(() => of(['onnx', 'Split', 13], [fact('float32', ['1..2']), ints(1, 2)], 2)).code).toBe(
      'shape-mismatch'
    )
  })

  test('unknown axes and sizes bound the parts', () => {
    expect(of(['openvino', 'Split', 1], [fact('float32', [4, 6]), fact('int64', [])], 2, { num_splits: 2 })).toEqual([
      ['0..4', '0..6'],
      ['0..4', '0..6']
    ])
    expect(of(['onnx', 'Split', 13], [fact('float32', [4]), fact('int64', ['k'])], 2)).toEqual([['0..4'], ['0..4']])
    expect(of(['onnx', 'Split', 13], [fact('float32')], 2)).toEqual([undefined, undefined])
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2, 'm'])])
    expect(inferOp(['onnx', 'Split', 13], [dims, ints(1, 2)], { outputs: 2 }).map(valuesOf)).toEqual([['n'], [2n, 'm']])
  })
})
