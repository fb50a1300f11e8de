import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const einsum = (equation: string, ...inputs: Tensor[]): Tensor =>
  runTensor(['onnx', 'Einsum', 12], inputs, { attributes: { equation } })
const list = (tensor: Tensor): unknown[] => [...tensor.data]

describe('Einsum', () => {
  test('transposes, sums, takes diagonals and traces of one operand', () => {
    expect(list(einsum('ij->ji', iota([2, 3])))).toEqual([0, 3, 1, 4, 2, 5])
    expect(list(einsum('ij->j', iota([2, 3])))).toEqual([3, 5, 7])
    expect(list(einsum('ii->i', iota([3, 3])))).toEqual([0, 4, 8])
    expect(list(einsum('ii->i', new Tensor('int64', [1n, 2n, 3n, 4n], [2, 2])))).toEqual([1n, 4n])
    expect(list(einsum('bii->ib', iota([2, 3, 3])))).toEqual([0, 9, 4, 13, 8, 17])
    expect(list(einsum('ijij->ji', iota([2, 3, 2, 3])))).toEqual([0, 21, 7, 28, 14, 35])
    expect(list(einsum('ii', iota([3, 3])))).toEqual([12])
    expect(einsum('ij->', iota([2, 3])).dims).toEqual([])
  })

  test('multiplies matrices, batches and outer products', () => {
    expect(list(einsum('ij,jk->ik', iota([2, 3]), iota([3, 2])))).toEqual([10, 13, 28, 40])
    expect(list(einsum('bi,bi->b', iota([2, 2]), iota([2, 2])))).toEqual([1, 13])
    expect(list(einsum('i,j->ji', iota([2]), iota([3])))).toEqual([0, 0, 0, 1, 0, 2])
    expect(list(einsum('ij,jk,kl->il', iota([1, 2]), iota([2, 2]), iota([2, 1])))).toEqual([3])
    expect(list(einsum('a,b,ab', iota([2]), iota([2]), iota([2, 2])))).toEqual([3])
  })

  test('without an arrow the labels that occur once come in ASCII order', () => {
    expect(einsum('bAc', iota([2, 3, 4])).dims).toEqual([3, 2, 4])
    expect(list(einsum('ij, jk', iota([2, 3]), iota([3, 2])))).toEqual([10, 13, 28, 40])
    expect(einsum('b...a', iota([2, 3, 4])).dims).toEqual([3, 4, 2])
  })

  test('an ellipsis is broadcast, and is summed where the result lacks it', () => {
    expect(einsum('...ij,...jk->...ik', iota([2, 1, 3, 4]), iota([5, 4, 2])).dims).toEqual([2, 5, 3, 2])
    expect(list(einsum('a...->a', iota([2, 2, 2])))).toEqual([6, 22])
    expect(list(einsum('a...,...->a...', iota([2, 3]), new Tensor('float32', [0.5])))).toEqual([0, 0.5, 1, 1.5, 2, 2.5])
  })

  test('dims of 1 are broadcast under a label', () => {
    expect(list(einsum('ij,j->i', iota([2, 1]), iota([3])))).toEqual([0, 3])
  })

  test('integers are exact', () => {
    expect(list(einsum('i,i->', ints(2n ** 40n, 1), ints(2n ** 20n, 1)))).toEqual([2n ** 60n + 1n])
    expect(list(einsum('i,i->', new Tensor('int32', [0x10001]), new Tensor('int32', [0x10001])))).toEqual([0x20001])
  })

  test('equations and operands that do not fit are refused', () => {
    const code = (equation: string, ...inputs: Tensor[]): unknown => errorOf(() => einsum(equation, ...inputs)).code
    expect(code('i->j', iota([2]))).toBe('unknown-attribute-value')
    expect(code('i->ii', iota([2]))).toBe('unknown-attribute-value')
    expect(code('i->i->i', iota([2]))).toBe('unknown-attribute-value')
    expect(code('i1', iota([2]))).toBe('unknown-attribute-value')
    expect(code('...i...', iota([2]))).toBe('unknown-attribute-value')
    expect(code('i,j', iota([2]))).toBe('wrong-input-count')
    expect(code('ij', iota([2]))).toBe('rank-mismatch')
    expect(code('i', iota([2, 2]))).toBe('rank-mismatch')
    expect(code('ij,jk', iota([2, 3]), iota([2, 3]))).toBe('shape-mismatch')
    expect(code('ii', iota([1, 3]))).toBe('shape-mismatch')
  })

  test('shapes stay symbolic in both dialects', () => {
    const inputs = [fact('float32', ['n', 's', 8]), fact('float32', [8, 'v'])]
    for (const kind of [
      ['onnx', 'Einsum', 12],
      ['openvino', 'Einsum', 7]
    ] as const) {
      expect(dimsOf(inferOp(kind, inputs, { attributes: { equation: 'nsd,dv->nvs' } })[0])).toEqual(['n', 'v', 's'])
    }
  })
})
