import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const FLOAT = 1
const INT8 = 3
const INT32 = 6
const INT64 = 7
const STRING = 8
const BOOL = 9
const FLOAT8 = 17
const BFLOAT16 = 16
const E8M0 = 24

const cast = (version: number, x: Tensor, to: number | string, attributes = {}): Tensor =>
  runTensor(['onnx', 'Cast', version], [x], { attributes: { to, ...attributes } })

describe('ONNX Cast', () => {
  test('names the type by text in version 1', () => {
    expect(cast(1, new Tensor('float32', [1.9]), 'INT64').type).toBe('int64')
    expect(cast(1, ints(2), 'FLOAT').type).toBe('float32')
    expect(cast(1, ints(2), 'DOUBLE').type).toBe('float64')
    expect(errorOf(() => cast(1, ints(2), 'LONG')).code).toBe('unknown-attribute-value')
  })

  test('truncates floats, keeps low bits of integers, makes booleans of what is not zero', () => {
    expect(list(cast(13, new Tensor('float32', [1.9, -1.9]), INT32))).toEqual([1, -1])
    expect(list(cast(13, ints(200), INT8))).toEqual([-56])
    expect(list(cast(13, new Tensor('float32', [0, -0, 0.1, NaN]), BOOL))).toEqual([0, 0, 1, 1])
  })

  test('strings came with version 9, bfloat16 with 13, float8 with 19', () => {
    expect(list(cast(9, new Tensor('string', ['1.5', '-inf']), FLOAT))).toEqual([1.5, -Infinity])
    expect(list(cast(9, ints(12), STRING))).toEqual(['12'])
    expect(errorOf(() => cast(6, ints(12), STRING)).code).toBe('type-not-allowed')
    expect(errorOf(() => cast(9, ints(12), BFLOAT16)).code).toBe('type-not-allowed')
    expect(errorOf(() => cast(13, new Tensor('float32', [1]), FLOAT8)).code).toBe('type-not-allowed')
  })

  test('saturate and round_mode decide about 8-bit floats', () => {
    const large = new Tensor('float32', [1e6])
    expect(list(cast(19, large, FLOAT8))).toEqual([0x7e])
    expect(list(cast(19, large, FLOAT8, { saturate: 0 }))).toEqual([0x7f])
    const between = new Tensor('float32', [1.25])
    expect(list(cast(24, between, E8M0))).toEqual([128])
    expect(list(cast(24, between, E8M0, { round_mode: 'down' }))).toEqual([127])
    expect(list(cast(24, between, E8M0, { round_mode: 'nearest' }))).toEqual([127])
  })

  test('an unknown type number is refused', () => {
    expect(errorOf(() => cast(13, ints(1), 99)).code).toBe('unknown-attribute-value')
  })

  test('long tensors are cast in steps without a seam', () => {
    const length = (1 << 18) + 3
    const out = cast(
      13,
      new Tensor(
        'int32',
        Int32Array.from({ length }, (_, i) => i)
      ),
      FLOAT
    )
    expect([out.data[0], out.data[(1 << 18) - 1], out.data[1 << 18], out.data[length - 1]]).toEqual([
      0,
      (1 << 18) - 1,
      1 << 18,
      length - 1
    ])
    const texts = cast(13, new Tensor('uint8', new Uint8Array(length).fill(7)), STRING)
    expect([texts.data[0], texts.data[length - 1]]).toEqual(['7', '7'])
  })
})

describe('CastLike, Convert and ConvertLike', () => {
  test('take the type of the second operand', () => {
    for (const kind of [
      ['onnx', 'CastLike', 15],
      ['openvino', 'ConvertLike', 1]
    ] as Kind[]) {
      const out = runTensor(kind, [new Tensor('float32', [2.5]), ints()])
      expect(out.type).toBe('int64')
      expect(list(out)).toEqual([2n])
    }
  })

  test('Convert names the type as OpenVINO does', () => {
    expect(runTensor(['openvino', 'Convert', 1], [ints(1)], { attributes: { destination_type: 'f16' } }).type).toBe(
      'float16'
    )
    expect(
      list(
        runTensor(['openvino', 'Convert', 1], [new Tensor('int32', [-1])], { attributes: { destination_type: 'u32' } })
      )
    ).toEqual([0xffffffff])
  })
})

describe('values before the run', () => {
  const shape = (dim: string): ReturnType<typeof inferOp>[number] =>
    inferOp(['onnx', 'Shape', 13], [fact('float32', [dim, 3])])[0]
  const to = (of: ReturnType<typeof shape>, type: number): unknown[] | undefined =>
    valuesOf(inferOp(['onnx', 'Cast', 13], [of], { attributes: { to: type } })[0])

  test('symbols pass to types that hold them', () => {
    expect(to(shape('n'), INT32)).toEqual(['n', 3n])
    expect(to(shape('n'), FLOAT)).toEqual(['n', 3])
    expect(to(shape('1..100'), INT8)).toEqual(['1..100', 3n])
    expect(to(shape('n'), INT8)).toBeUndefined()
    expect(to(shape('1..9'), BOOL)).toEqual([1, 1])
    expect(to(shape('n'), BOOL)).toEqual(['0..1', true])
  })

  test('a size that goes through floats and back stays itself', () => {
    const asFloat = inferOp(['onnx', 'Cast', 13], [shape('n')], { attributes: { to: FLOAT } })[0]
    const scaled = inferOp(['onnx', 'Mul', 14], [asFloat, new Tensor('float32', [2, 0.5])])[0]
    expect(valuesOf(inferOp(['onnx', 'Cast', 13], [scaled], { attributes: { to: INT64 } })[0])).toEqual(['2*n', 1n])
  })

  test('dims stay, the type is the target', () => {
    const out = inferOp(['onnx', 'Cast', 13], [fact('float32', ['n'])], { attributes: { to: INT64 } })[0]
    expect(dimsOf(out)).toEqual(['n'])
    expect(out).toMatchObject({ type: 'int64' })
  })
})
