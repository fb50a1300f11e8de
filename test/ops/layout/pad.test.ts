import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const line: Tensor = new Tensor('float32', [1, 2, 3, 4])
const onnx = (data: Tensor, pads: number[], mode = 'constant', fill?: Tensor, axes?: Tensor): Tensor =>
  runTensor(['onnx', 'Pad', 21], [data, ints(...pads), fill, ...(axes ? [axes] : [])], { attributes: { mode } })
const openvino = (
  opset: number,
  begin: number[],
  end: number[],
  mode: string,
  data: Tensor = line,
  fill?: Tensor
): Tensor =>
  runTensor(['openvino', 'Pad', opset], [data, ints(...begin), ints(...end), ...(fill ? [fill] : [])], {
    attributes: { pad_mode: mode }
  })

describe('ONNX Pad', () => {
  test('pads with a constant, 0 unless told', () => {
    const out = onnx(iota([2, 2]), [0, 1, 1, 2])
    expect(out.dims).toEqual([3, 5])
    expect([...out.data]).toEqual([0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0])
    expect([...onnx(line, [1, 2], 'constant', scalar(9, 'float32')).data]).toEqual([9, 1, 2, 3, 4, 9, 9])
    expect(onnx(iota([2], 'string'), [1, 0], 'constant', new Tensor('string', ['x'], [1])).data).toEqual([
      'x',
      '0',
      '1'
    ])
    expect(onnx(iota([1], 'string'), [1, 1]).data).toEqual(['', '0', ''])
  })

  test('edge, reflect and wrap take elements of the data, as far as it takes', () => {
    expect([...onnx(line, [2, 3], 'edge').data]).toEqual([1, 1, 1, 2, 3, 4, 4, 4, 4])
    expect([...onnx(line, [3, 3], 'reflect').data]).toEqual([4, 3, 2, 1, 2, 3, 4, 3, 2, 1])
    expect([...onnx(line, [7, 4], 'reflect').data]).toEqual([2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2])
    expect([...onnx(iota([1]), [2, 1], 'reflect').data]).toEqual([0, 0, 0, 0])
    expect([...onnx(line, [5, 3], 'wrap').data]).toEqual([4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3])
    expect([...onnx(iota([3, 2]), [2, 1, 1, 1], 'wrap').data]).toEqual([
      3, 2, 3, 2, 5, 4, 5, 4, 1, 0, 1, 0, 3, 2, 3, 2, 5, 4, 5, 4, 1, 0, 1, 0
    ])
  })

  test('negative pads take elements away', () => {
    expect([...onnx(line, [-1, -2]).data]).toEqual([2])
    expect([...onnx(line, [-2, 3], 'edge').data]).toEqual([3, 4, 4, 4, 4])
    expect([...onnx(line, [-2, 3], 'wrap').data]).toEqual([3, 4, 1, 2, 3])
    expect([...onnx(line, [-5, 7], 'constant', scalar(8, 'float32')).data]).toEqual([8, 8, 8, 8, 8, 8])
    expect(errorOf(() => onnx(line, [-3, -3])).code).toBe('shape-mismatch')
  })

  test('version 18 pads the axes that it names', () => {
    const out = onnx(iota([2, 1, 2]), [1, 0, 0, 1], 'edge', undefined, ints(-1, 1))
    expect(out.dims).toEqual([2, 2, 3])
    expect([...out.data]).toEqual([0, 0, 1, 0, 0, 1, 2, 2, 3, 2, 2, 3])
    expect(errorOf(() => onnx(line, [1, 1, 1, 1], 'edge', undefined, ints(0, 0))).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(line, [1, 1], 'edge', undefined, ints(1))).code).toBe('axis-out-of-range')
    expect(errorOf(() => onnx(line, [1, 1], 'edge', undefined, ints(0, 0))).code).toBe('dims-mismatch')
  })

  test('versions 1 and 2 have attributes; only 2 takes negative pads', () => {
    const half = new Tensor('float16', new Uint16Array([0x3c00]))
    expect([...runTensor(['onnx', 'Pad', 2], [half], { attributes: { pads: [1, 0], value: 2 } }).data]).toEqual([
      0x4000, 0x3c00
    ])
    expect([...runTensor(['onnx', 'Pad', 1], [line], { attributes: { paddings: [0, 1], mode: 'edge' } }).data]).toEqual(
      [1, 2, 3, 4, 4]
    )
    expect([...runTensor(['onnx', 'Pad', 2], [line], { attributes: { pads: [-3, 0] } }).data]).toEqual([4])
    expect(errorOf(() => runTensor(['onnx', 'Pad', 1], [line], { attributes: { paddings: [-3, 0] } })).code).toBe(
      'value-out-of-range'
    )
    expect(
      errorOf(() => runTensor(['onnx', 'Pad', 13], [line, ints(1, 1)], { attributes: { mode: 'wrap' } })).code
    ).toBe('unknown-attribute-value')
  })

  test('wraps at version 18, too, as PyTorch writes circular padding', () => {
    const wrapped = runTensor(['onnx', 'Pad', 18], [line, ints(1, 2)], { attributes: { mode: 'wrap' } })
    expect([...wrapped.data]).toEqual([4, 1, 2, 3, 4, 1, 2])
  })

  test('refuses lists of other lengths, empty axes to repeat and fills that are no scalar', () => {
    expect(errorOf(() => onnx(line, [1, 1, 1, 1])).code).toBe('dims-mismatch')
    expect(errorOf(() => onnx(line, [1, 1, 1])).code).toBe('dims-mismatch')
    for (const mode of ['edge', 'reflect', 'wrap'])
      expect(errorOf(() => onnx(allocate('int8', [0]), [1, 0], mode)).code).toBe('value-out-of-range')
    expect([...onnx(allocate('int8', [0]), [1, 1]).data]).toEqual([0, 0])
    expect(errorOf(() => onnx(line, [1, 1], 'constant', iota([2]))).code).toBe('rank-mismatch')
    expect(errorOf(() => onnx(line, [1, 1], 'constant', scalar(1))).code).toBe('type-mismatch')
    expect(errorOf(() => onnx(line, [2 ** 51, 2 ** 51])).code).toBe('limit-exceeded')
  })
})

describe('OpenVINO Pad', () => {
  const data = new Tensor('int32', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [3, 4])

  test('pads in every mode', () => {
    expect([...openvino(1, [0, 1], [0, 3], 'symmetric', data).data].slice(0, 8)).toEqual([1, 1, 2, 3, 4, 4, 3, 2])
    expect([...openvino(1, [0], [2], 'constant', line, scalar(5, 'float32')).data]).toEqual([1, 2, 3, 4, 5, 5])
    expect([...openvino(12, [0], [2], 'edge').data]).toEqual([1, 2, 3, 4, 4, 4])
  })

  test('Pad-12 crops for negative pads, the other elements being those of the whole data', () => {
    const mixed = (mode: string): unknown => [...openvino(12, [2, -1], [-1, 3], mode, data).data]
    expect(mixed('constant')).toEqual([...new Array<number>(12).fill(0), 2, 3, 4, 0, 0, 0, 6, 7, 8, 0, 0, 0])
    expect(mixed('edge')).toEqual([2, 3, 4, 4, 4, 4, 2, 3, 4, 4, 4, 4, 2, 3, 4, 4, 4, 4, 6, 7, 8, 8, 8, 8])
    expect(mixed('reflect')).toEqual([10, 11, 12, 11, 10, 9, 6, 7, 8, 7, 6, 5, 2, 3, 4, 3, 2, 1, 6, 7, 8, 7, 6, 5])
    expect(mixed('symmetric')).toEqual([6, 7, 8, 8, 7, 6, 2, 3, 4, 4, 3, 2, 2, 3, 4, 4, 3, 2, 6, 7, 8, 8, 7, 6])
    expect(openvino(12, [-3], [-3], 'constant').dims).toEqual([0])
    expect(errorOf(() => openvino(1, [-1], [0], 'constant')).code).toBe('value-out-of-range')
  })

  test('reflections are limited by the dim', () => {
    expect(openvino(12, [4], [4], 'symmetric').dims).toEqual([12])
    expect(errorOf(() => openvino(12, [5], [0], 'symmetric')).code).toBe('value-out-of-range')
    expect(errorOf(() => openvino(12, [4], [0], 'reflect')).message).toBe(
      'a pad of 4 is too large for axis 0 of size 4; mode reflect allows 3'
    )
    expect(errorOf(() => openvino(12, [1, 1], [1], 'edge')).code).toBe('dims-mismatch')
    expect(errorOf(() => openvino(12, [1], [1], 'wrap')).code).toBe('unknown-attribute-value')
  })
})

/** The element at `at`, counted from the first of `size`: a walk that turns, stops or starts anew at the ends. */
function walk(at: number, size: number, mode: string): number {
  let place = 0
  let step = Math.sign(at)
  for (let i = 0; i < Math.abs(at); i++) {
    const next = place + step
    const isInside = next >= 0 && next < size
    if (isInside) place = next
    else if (mode === 'wrap') place = next < 0 ? size - 1 : 0
    else if (mode !== 'edge') {
      step = -step
      if (mode === 'reflect' && size > 1) place += step
    }
  }
  return place
}

test.each(
  (['edge', 'reflect', 'symmetric', 'wrap'] as const).flatMap(mode =>
    (['float32', 'int64', 'uint8', 'string', 'complex64', 'int4'] as const).map(type => [mode, type] as const)
  )
)('elements around the data are those of a walk from the first: mode %s, %s', (mode, type) => {
  const dims = [3, 4, 5]
  const data = iota(dims, type)
  for (const pads of [
    [1, 2, 0, 2, 1, 4],
    [0, 0, 2, 0, 0, 3],
    [2, 0, 0, 0, 3, 0],
    [2, 3, 4, 2, 3, 4],
    [7, 0, 1, 0, 1, 8],
    [0, -1, 2, 1, 3, -2]
  ]) {
    const [begin, end] = [pads.slice(0, 3), pads.slice(3)]
    if (mode === 'symmetric' && pads.some(pad => pad > 5)) continue
    const out = mode === 'symmetric' ? openvino(12, begin, end, mode, data) : onnx(data, pads, mode)
    expect(out.dims).toEqual(dims.map((dim, i) => begin[i] + dim + end[i]))
    const elements = elementsOf(data)
    const [, height, width] = out.dims
    elementsOf(out).forEach((element, i) => {
      const at = [Math.floor(i / (height * width)), Math.floor(i / width) % height, i % width]
      const [a, b, c] = at.map((index, axis) => walk(index - begin[axis], dims[axis], mode))
      expect(element).toEqual(elements[(a * dims[1] + b) * dims[2] + c])
    })
  }
})

/** Elements as JavaScript has them; complex ones as their parts. */
function elementsOf({ data, type }: Tensor): unknown[] {
  const list = Array.from(data as ArrayLike<unknown>)
  return type === 'complex64' ? list.flatMap((part, i) => (i % 2 === 0 ? [[part, list[i + 1]]] : [])) : list
}

describe('the shape rule of Pad', () => {
  const of = (
    dims: readonly (number | string)[] | undefined,
    pads: Parameters<typeof inferOp>[1][number],
    ...rest: Parameters<typeof inferOp>[1][number][]
  ): unknown => dimsOf(inferOp(['onnx', 'Pad', 21], [fact('float32', dims), pads, undefined, ...rest])[0])

  test('adds pads to symbols', () => {
    expect(of(['n', 3], ints(1, 0, 2, 0))).toEqual(['n+3', 3])
    expect(of(['n', 3], ints(2, 2), ints(0))).toEqual(['n+4', 3])
    expect(of(['2..5'], ints(-1, 0))).toEqual(['1..4'])
  })

  test('the rank is known where the pads are not', () => {
    expect(of(['n', 3], fact('int64', ['k']))).toEqual(['?', '?'])
    expect(of(undefined, ints(1, 0, 2, 0))).toEqual(['?', '?'])
    expect(of(undefined, fact('int64', ['k']))).toBeUndefined()
    expect(
      dimsOf(
        inferOp(['openvino', 'Pad', 12], [fact('float32'), fact('int64', [2]), ints(0, 0)], {
          attributes: { pad_mode: 'edge' }
        })[0]
      )
    ).toEqual(['?', '?'])
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2])])
    expect(valuesOf(inferOp(['onnx', 'Pad', 21], [dims, ints(1, 1), scalar(7)])[0])).toEqual([7n, 'n', 2n, 7n])
    expect(valuesOf(inferOp(['onnx', 'Pad', 21], [dims, ints(0, 1)], { attributes: { mode: 'wrap' } })[0])).toEqual([
      'n',
      2n,
      'n'
    ])
  })
})

describe('Pad of com.microsoft', () => {
  const kind = ['onnx', 'Pad', 1, 'com.microsoft'] as const
  const pads = (dims: number[], ...values: number[]): Tensor => new Tensor('int64', values, dims)

  test('takes pads as a list or as a matrix of one row, and a value of one element', () => {
    const padded = [2.5, 1, 2, 3, 4]
    for (const dims of [[2], [1, 2]])
      expect([...runTensor(kind, [line, pads(dims, 1, 0), new Tensor('float32', [2.5])]).data]).toEqual(padded)
    for (const [mode, expected] of [
      ['reflect', [3, 2, 1, 2, 3, 4]],
      ['edge', [1, 1, 1, 2, 3, 4]],
      ['wrap', [3, 4, 1, 2, 3, 4]]
    ] as const)
      expect([...runTensor(kind, [line, pads([1, 2], 2, 0)], { attributes: { mode } }).data]).toEqual(expected)
    expect([...runTensor(kind, [line, pads([2], -1, -1)]).data]).toEqual([2, 3])
  })

  test('refuses other pads, and keeps the rank where they are not known', () => {
    for (const dims of [
      [2, 1],
      [1, 1, 2]
    ])
      expect(errorOf(() => runTensor(kind, [line, pads(dims, 1, 0)])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(kind, [line, pads([1, 1], 1)])).code).toBe('dims-mismatch')
    for (const dims of [[1, 4], ['?', 4], [4], ['?', '?']])
      expect(dimsOf(inferOp(kind, [fact('float32', ['n', 3]), fact('int64', dims)])[0])?.length).toBe(2)
    const [y] = inferOp(kind, [fact('float32', ['n', 3]), pads([1, 4], 1, 0, 1, 0)])
    expect(dimsOf(y)).toEqual(['n+2', 3])
  })
})
