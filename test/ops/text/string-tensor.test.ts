import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'

const bytes = (text: string): Tensor => new Tensor('uint8', new TextEncoder().encode(text))

describe('StringTensorUnpack', () => {
  const unpack = (strings: string[], dims?: number[]): Tensor[] =>
    runOp(['openvino', 'StringTensorUnpack', 15], [new Tensor('string', strings, dims)], { outputs: 3 }) as Tensor[]

  test('gives begins, ends and the UTF-8 bytes of all strings', () => {
    const [begins, ends, symbols] = unpack(['Ä', '', '😀b', 'c'], [2, 2])
    expect(begins).toMatchObject({ type: 'int32', dims: [2, 2] })
    expect([...begins.data]).toEqual([0, 2, 2, 7])
    expect([...ends.data]).toEqual([2, 2, 7, 8])
    expect(new TextDecoder().decode(symbols.data as Uint8Array)).toBe('Ä😀bc')
  })

  test('of no strings gives no bytes', () => {
    expect(unpack([], [0, 3]).map(({ dims }) => dims)).toEqual([[0, 3], [0, 3], [0]])
  })

  test('keeps the shape, the number of bytes is open', () => {
    expect(
      inferOp(['openvino', 'StringTensorUnpack', 15], [fact('string', ['n', 2])], { outputs: 3 }).map(dimsOf)
    ).toEqual([['n', 2], ['n', 2], ['?']])
  })
})

describe('StringTensorPack', () => {
  const pack = (begins: number[], ends: number[], symbols: Tensor): Tensor =>
    runTensor(
      ['openvino', 'StringTensorPack', 15],
      [new Tensor('int64', begins.map(BigInt)), new Tensor('int64', ends.map(BigInt)), symbols]
    )

  test('cuts strings out, which may share bytes and leave some out', () => {
    expect(pack([0, 3, 2, 5], [2, 5, 5, 5], bytes('Äxyz')).data).toEqual(['Ä', 'yz', 'xyz', ''])
  })

  test('refuses strings beyond the bytes, backward ones and bytes that are no text', () => {
    expect(errorOf(() => pack([0, 2], [2, 9], bytes('abc')))).toMatchObject({
      code: 'value-out-of-range',
      message: 'the string at [1] lies at 2 to 9 of 3 bytes'
    })
    expect(errorOf(() => pack([2], [1], bytes('abc'))).code).toBe('value-out-of-range')
    expect(errorOf(() => pack([-1], [1], bytes('abc'))).code).toBe('value-out-of-range')
    expect(errorOf(() => pack([1], [2], bytes('Ä'))).message).toContain('UTF-8')
  })

  test('takes begins and ends of one shape and type, and bytes in a list', () => {
    const infer = (
      begins: (number | string)[],
      ends: (number | string)[],
      type: 'int32' | 'int64' = 'int32'
    ): unknown =>
      dimsOf(
        inferOp(
          ['openvino', 'StringTensorPack', 15],
          [fact('int32', begins), fact(type, ends), fact('uint8', ['?'])]
        )[0]
      )
    expect(infer(['n', '1..4'], ['?', '3..9'])).toEqual(['n', '3..4'])
    expect(errorOf(() => infer([2], [3])).code).toBe('shape-mismatch')
    expect(errorOf(() => infer([2], [2], 'int64')).code).toBe('type-mismatch')
    expect(
      errorOf(() =>
        inferOp(['openvino', 'StringTensorPack', 15], [fact('int32', [1]), fact('int32', [1]), fact('uint8', [1, 1])])
      ).code
    ).toBe('rank-mismatch')
  })
})
