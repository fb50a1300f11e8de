import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { isByParts, placedByParts } from '../../../src/wasm/kernels/broadcast-loops.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

describe('placedByParts', () => {
  const whole = { staging: 'whole' }
  const whenWhole = { inputs: [whole, whole], outputStaging: 'whole' }

  test('elements of all operands, and of the output, go by parts', () => {
    const own = { dims: [1 << 20], width: 4 }
    const placement = placedByParts([own, own], { blocks: 1 << 20, blockBytes: 4 }, 1)
    const part = { staging: 'parts', elementsPerBlock: 1 }
    expect(placement).toEqual({ inputs: [part, part], outputStaging: 'parts' })
    expect(isByParts(placement)).toBe(true)
  })

  test('operands that are broadcast are copied as a whole', () => {
    const operands = [
      { dims: [4096, 256], width: 8 },
      { dims: [4096, 1], width: 8 }
    ]
    const { inputs } = placedByParts(operands, { blocks: 4096, blockBytes: 2048 }, 256)
    expect(inputs).toEqual([{ staging: 'parts', elementsPerBlock: 256 }, whole])
  })

  test('so is all of what is small, and of blocks that are no part of a part', () => {
    const small = [1, 2].map(() => ({ dims: [1 << 16], width: 4 }))
    expect(placedByParts(small, { blocks: 1 << 16, blockBytes: 4 }, 1)).toEqual(whenWhole)
    const long = [1, 2].map(() => ({ dims: [4, 1 << 18], width: 4 }))
    expect(placedByParts(long, { blocks: 4, blockBytes: 1 << 20 }, 1 << 18)).toEqual(whenWhole)
  })
})

describe.each([1, 2])('large arrays outside the heap, with %i threads', threads => {
  const ROWS = 1031
  const COLUMNS = 509
  const x = noise([ROWS, COLUMNS], 1, 2)
  const others = [[ROWS, COLUMNS], [], [COLUMNS], [ROWS, 1]].map((dims, i) => noise(dims, 2 + i, 2))
  const options = { region: 'array', threads } as const

  test('sums, comparisons and selections of every broadcast', () => {
    const conditions = convert(new Tensor('float32', Float32Array.from(x.data, Math.round), x.dims), 'bool')
    for (const other of others) {
      expectEqual(['onnx', 'Add', 14], [x, other], options, 0)
      expectEqual(
        ['onnx', 'Sub', 14],
        [other, x].map(tensor => convert(tensor, 'float64')),
        options,
        0
      )
      expectEqual(['onnx', 'Less', 13], [other, x], options, 0)
      expectEqual(['onnx', 'Where', 16], [conditions, x, other], options, 0)
    }
  })

  test('functions of one operand, which some kernels read twice', () => {
    expectEqual(['onnx', 'Abs', 13], [x], options, 0)
    expectEqual(['onnx', 'Ceil', 13], [convert(x, 'float64')], options, 0)
    expectEqual(['onnx', 'Mul', 14], [x, x], options, 0)
    expectEqual(['onnx', 'IsNaN', 13], [x], options, 0)
  })

  test('sums of functions of one operand, which have no second', () => {
    const integers = convert(new Tensor('float32', Float32Array.from(x.data, Math.round), x.dims), 'int64')
    for (const type of ['ReduceL1', 'ReduceSumSquare', 'ReduceL2'])
      expectEqual(['onnx', type, 13], [integers], { ...options, attributes: { axes: [1] } }, 0)
  })

  test('the reference names a divisor that is 0 in a later part', () => {
    const dividend = new Tensor('int32', new Int32Array(1 << 20).fill(7), [1 << 20])
    const divisor = new Tensor('int32', new Int32Array(1 << 20).fill(3), [1 << 20])
    expectEqual(['onnx', 'Div', 14], [dividend, divisor], options, 0)
    divisor.data[900_000] = 0
    expect(() => runAccelerated(['onnx', 'Div', 14], [dividend, divisor], options)).toThrow(/0/)
  })
})
