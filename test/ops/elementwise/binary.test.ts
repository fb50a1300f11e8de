import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const floats = (...values: number[]): Tensor => new Tensor('float32', values)
const list = (tensor: Tensor): unknown[] => [...tensor.data]
const bytes = (type: 'int8' | 'uint8', ...values: number[]): Tensor => new Tensor(type, values)

describe('ONNX arithmetic', () => {
  test('broadcasts both operands by NumPy’s rules', () => {
    const out = runTensor(['onnx', 'Add', 14], [iota([2, 1, 3]), iota([2, 1])])
    expect(out.dims).toEqual([2, 2, 3])
    expect(list(out)).toEqual([0, 1, 2, 1, 2, 3, 3, 4, 5, 4, 5, 6])
  })

  test('integers wrap in every width', () => {
    expect(list(runTensor(['onnx', 'Add', 14], [bytes('int8', 127), bytes('int8', 1)]))).toEqual([-128])
    expect(list(runTensor(['onnx', 'Sub', 14], [bytes('uint8', 1), bytes('uint8', 2)]))).toEqual([255])
    const large = new Tensor('int32', [0x7fffffff])
    expect(list(runTensor(['onnx', 'Mul', 14], [large, large]))).toEqual([1])
    expect(list(runTensor(['onnx', 'Mul', 14], [ints(2n ** 62n), ints(2)]))).toEqual([-(2n ** 63n)])
    expect(list(runTensor(['onnx', 'Add', 14], [ints(2n ** 53n), ints(1)]))).toEqual([2n ** 53n + 1n])
  })

  test('integers divide towards zero, the lowest by -1 is itself', () => {
    expect(list(runTensor(['onnx', 'Div', 14], [ints(7, -7, 7, -7), ints(2, 2, -2, -2)]))).toEqual([3n, -3n, -3n, 3n])
    expect(list(runTensor(['onnx', 'Div', 14], [bytes('int8', -128, -7), bytes('int8', -1, 2)]))).toEqual([-128, -3])
  })

  test('a float divided by zero is an infinity, an integer is refused with the place of the zero', () => {
    expect(list(runTensor(['onnx', 'Div', 14], [floats(1, -1, 0), floats(0)]))).toEqual([Infinity, -Infinity, NaN])
    const error = errorOf(() => runTensor(['onnx', 'Div', 14], [ints(1, 2), new Tensor('int64', [1n, 0n], [2, 1])]))
    expect(error.code).toBe('value-out-of-range')
    expect(error.message).toContain('[1, 0]')
    expect(runTensor(['onnx', 'Div', 14], [allocate('int64', [0]), ints(0)]).dims).toEqual([0])
  })

  test('Mod has the sign of the divisor, with fmod that of the dividend', () => {
    const [a, b] = [ints(7, -7, 7, -7), ints(3, 3, -3, -3)]
    expect(list(runTensor(['onnx', 'Mod', 13], [a, b]))).toEqual([1n, 2n, -2n, -1n])
    expect(list(runTensor(['onnx', 'Mod', 13], [a, b], { attributes: { fmod: 1 } }))).toEqual([1n, -1n, 1n, -1n])
    expect(list(runTensor(['onnx', 'Mod', 13], [floats(-5.5), floats(2)], { attributes: { fmod: 1 } }))).toEqual([-1.5])
  })

  test('Mod of floats without fmod came with version 28, special values included', () => {
    expect(errorOf(() => runTensor(['onnx', 'Mod', 13], [floats(1), floats(2)])).code).toBe('unknown-attribute-value')
    const out = runTensor(
      ['onnx', 'Mod', 28],
      [floats(-5.5, 3, 0, 5, -5, Infinity), floats(2, -2, -1, Infinity, Infinity, 2)]
    )
    expect(list(out)).toEqual([0.5, -1, -0, 5, Infinity, NaN])
  })

  test('shifts by all bits or by a negative amount leave the sign', () => {
    const shift = (direction: string, a: Tensor, b: Tensor): unknown[] =>
      list(runTensor(['onnx', 'BitShift', 28], [a, b], { attributes: { direction } }))
    expect(shift('LEFT', bytes('uint8', 1, 255, 1), bytes('uint8', 7, 1, 8))).toEqual([128, 254, 0])
    expect(shift('RIGHT', bytes('int8', -128, -1, 64, -3), bytes('int8', 3, 8, 9, -1))).toEqual([-16, -1, 0, -1])
    expect(shift('RIGHT', new Tensor('uint32', [0xffffffff]), new Tensor('uint32', [31]))).toEqual([1])
    expect(shift('LEFT', ints(1, 1, 3), ints(63, 64, -1))).toEqual([-(2n ** 63n), 0n, 0n])
  })

  test('float16 is added as float16', () => {
    const half = (...codes: number[]): Tensor => new Tensor('float16', new Uint16Array(codes))
    expect(list(runTensor(['onnx', 'Add', 14], [half(0x3c00, 0x7bff), half(0x4000, 0x7bff)]))).toEqual([0x4200, 0x7c00])
  })
})

describe('ONNX broadcasting before version 7', () => {
  const left = iota([2, 3, 4])

  test('lays the second operand onto the first from the axis on', () => {
    const out = runTensor(['onnx', 'Add', 6], [left, iota([3])], { attributes: { broadcast: 1, axis: 1 } })
    expect(list(out).slice(0, 12)).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13])
    expect(
      list(runTensor(['onnx', 'Add', 6], [left, iota([3, 1])], { attributes: { broadcast: 1, axis: 1 } }))
    ).toEqual(list(out))
    expect(
      list(runTensor(['onnx', 'Add', 6], [left, iota([4])], { attributes: { broadcast: 1 } })).slice(0, 4)
    ).toEqual([0, 2, 4, 6])
  })

  test('never broadcasts the first operand, and nothing without the attribute', () => {
    expect(
      errorOf(() => runTensor(['onnx', 'Add', 6], [iota([1]), iota([2])], { attributes: { broadcast: 1 } })).code
    ).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(['onnx', 'Add', 6], [left, iota([4])])).code).toBe('shape-mismatch')
    expect(
      errorOf(() => runTensor(['onnx', 'Add', 6], [left, iota([3])], { attributes: { broadcast: 1, axis: 2 } })).code
    ).toBe('shape-mismatch')
  })
})

describe('ONNX comparisons and logic', () => {
  test('64-bit integers are compared exactly', () => {
    expect(list(runTensor(['onnx', 'Equal', 13], [ints(2n ** 53n), ints(2n ** 53n + 1n)]))).toEqual([0])
    expect(list(runTensor(['onnx', 'Less', 13], [ints(2n ** 53n), ints(2n ** 53n + 1n)]))).toEqual([1])
    const unsigned = (value: bigint): Tensor => new Tensor('uint64', [value])
    expect(list(runTensor(['onnx', 'Greater', 13], [unsigned(2n ** 64n - 1n), unsigned(1n)]))).toEqual([1])
  })

  test('a NaN equals nothing and is neither less nor greater', () => {
    for (const type of ['Equal', 'Less', 'Greater', 'LessOrEqual', 'GreaterOrEqual']) {
      expect(list(runTensor(['onnx', type, 19], [floats(NaN, NaN), floats(NaN, 1)])), type).toEqual([0, 0])
    }
  })

  test('strings are equal from version 19 on', () => {
    const out = runTensor(['onnx', 'Equal', 19], [new Tensor('string', ['a', 'b']), new Tensor('string', ['a'])])
    expect(out.type).toBe('bool')
    expect(list(out)).toEqual([1, 0])
    expect(
      errorOf(() => runTensor(['onnx', 'Equal', 13], [new Tensor('string', ['a']), new Tensor('string', ['a'])])).code
    ).toBe('type-not-allowed')
  })

  test('And, Or and Xor have their truth tables', () => {
    const [a, b] = [new Tensor('bool', [0, 0, 1, 1]), new Tensor('bool', [0, 1, 0, 1])]
    expect(list(runTensor(['onnx', 'And', 7], [a, b]))).toEqual([0, 0, 0, 1])
    expect(list(runTensor(['onnx', 'Or', 7], [a, b]))).toEqual([0, 1, 1, 1])
    expect(list(runTensor(['onnx', 'Xor', 7], [a, b]))).toEqual([0, 1, 1, 0])
  })

  test('operands of two types are refused', () => {
    expect(errorOf(() => runTensor(['onnx', 'Add', 14], [floats(1), ints(1)])).code).toBe('type-mismatch')
    expect(errorOf(() => runTensor(['openvino', 'Add', 1], [floats(1), ints(1)])).code).toBe('type-mismatch')
  })
})

describe('OpenVINO arithmetic', () => {
  test('Divide floors integers unless m_pythondiv is false', () => {
    const [a, b] = [ints(7, -7), ints(2, 2)]
    expect(list(runTensor(['openvino', 'Divide', 1], [a, b]))).toEqual([3n, -4n])
    expect(list(runTensor(['openvino', 'Divide', 1], [a, b], { attributes: { m_pythondiv: false } }))).toEqual([
      3n,
      -3n
    ])
    expect(list(runTensor(['openvino', 'Divide', 1], [floats(-7), floats(2)]))).toEqual([-3.5])
    expect(list(runTensor(['openvino', 'Divide', 1], [bytes('int8', -7, 7), bytes('int8', 2, -2)]))).toEqual([-4, -4])
  })

  test('Mod truncates, FloorMod floors', () => {
    expect(list(runTensor(['openvino', 'Mod', 1], [ints(-7), ints(3)]))).toEqual([-1n])
    expect(list(runTensor(['openvino', 'FloorMod', 1], [ints(-7), ints(3)]))).toEqual([2n])
    expect(list(runTensor(['openvino', 'FloorMod', 1], [bytes('int8', -7), bytes('int8', 3)]))).toEqual([2])
  })

  test('pdpd lays the second operand onto the first, dims of 1 at its end aside', () => {
    const attributes = { auto_broadcast: 'pdpd', 'auto_broadcast.auto_broadcast_axis': 1 }
    const out = runTensor(['openvino', 'Multiply', 1], [iota([2, 3, 2]), iota([3, 1, 1])], { attributes })
    expect(list(out)).toEqual([0, 0, 2, 3, 8, 10, 0, 0, 8, 9, 20, 22])
    expect(errorOf(() => runTensor(['openvino', 'Multiply', 1], [iota([2, 1]), iota([3])], { attributes })).code).toBe(
      'shape-mismatch'
    )
  })

  test('without auto_broadcast shapes must be equal', () => {
    expect(
      errorOf(() =>
        runTensor(['openvino', 'Add', 1], [iota([2]), iota([1])], { attributes: { auto_broadcast: 'none' } })
      ).code
    ).toBe('shape-mismatch')
  })

  test('arithmetic refuses booleans, bitwise and comparison operators take them', () => {
    const flags = new Tensor('bool', [0, 1])
    expect(errorOf(() => runTensor(['openvino', 'Add', 1], [flags, flags])).code).toBe('type-not-allowed')
    expect(list(runTensor(['openvino', 'BitwiseXor', 13], [flags, new Tensor('bool', [1, 1])]))).toEqual([1, 0])
    expect(list(runTensor(['openvino', 'NotEqual', 1], [flags, new Tensor('bool', [1, 1])]))).toEqual([1, 0])
  })

  test('Xor of opset1 is LogicalXor', () => {
    const [a, b] = [new Tensor('bool', [0, 1]), new Tensor('bool', [1, 1])]
    expect(list(runTensor(['openvino', 'Xor', 1], [a, b]))).toEqual(
      list(runTensor(['openvino', 'LogicalXor', 1], [a, b]))
    )
  })

  test('SquaredDifference, Maximum and Minimum', () => {
    expect(list(runTensor(['openvino', 'SquaredDifference', 1], [ints(2, -1), ints(5, 1)]))).toEqual([9n, 4n])
    expect(list(runTensor(['openvino', 'Maximum', 1], [floats(1, NaN), floats(2, 3)]))).toEqual([2, NaN])
    expect(list(runTensor(['openvino', 'Minimum', 1], [ints(1, 5), ints(2, 3)]))).toEqual([1n, 3n])
  })
})

describe('shapes and values before the run', () => {
  test('names survive broadcasting', () => {
    expect(dimsOf(inferOp(['onnx', 'Add', 14], [fact('float32', ['n', 1, 4]), fact('float32', ['m', 1])])[0])).toEqual([
      'n',
      'm',
      4
    ])
    expect(dimsOf(inferOp(['onnx', 'Add', 14], [fact('float32', ['n', 4]), fact('float32')])[0])).toBeUndefined()
    expect(inferOp(['onnx', 'Less', 13], [fact('float32', ['n']), fact('float32', [])])[0]).toMatchObject({
      type: 'bool'
    })
  })

  test('without broadcasting both shapes are met', () => {
    const attributes = { auto_broadcast: 'none' }
    expect(
      dimsOf(
        inferOp(['openvino', 'Add', 1], [fact('float32', ['1..5', 'n']), fact('float32', ['3..9', 4])], {
          attributes
        })[0]
      )
    ).toEqual(['3..5', 4])
  })

  test('chains of shape arithmetic stay symbolic', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n', 6])])[0]
    const doubled = inferOp(['onnx', 'Mul', 14], [shape, ints(2)])[0]
    expect(valuesOf(doubled)).toEqual(['2*n', '12'].map((text, i) => (i === 0 ? text : 12n)))
    expect(valuesOf(inferOp(['onnx', 'Div', 14], [doubled, ints(2)])[0])).toEqual(['n', 6n])
    expect(valuesOf(inferOp(['onnx', 'Div', 14], [shape, ints(4)])[0])).toEqual(['floor(n/4)', 1n])
    expect(valuesOf(inferOp(['onnx', 'Equal', 13], [shape, ints(-1)])[0])).toEqual([0, 0])
    expect(valuesOf(inferOp(['onnx', 'Equal', 13], [shape, ints(6)])[0])).toEqual(['0..1', true])
  })

  test('a known divisor of zero is reported before the run, unless nothing may be divided', () => {
    expect(errorOf(() => inferOp(['onnx', 'Div', 14], [fact('int64', [3]), ints(0)])).code).toBe('value-out-of-range')
    expect(dimsOf(inferOp(['onnx', 'Div', 14], [fact('int64', ['n']), ints(0)])[0])).toEqual(['n'])
  })
})
