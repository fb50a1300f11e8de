import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { roundHalfToEven } from '../../../src/kernels/core/rounding.ts'
import { storeWhole } from '../../../src/kernels/core/whole.ts'
import { allocate } from '../../../src/tensor/tensor.ts'

const NUMBERS = [0, -0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 126.5, 127.5, 128, -128.5, -129, 254.5, 255.5]
const FAR = [2 ** 31 - 1.5, 2 ** 31 - 0.5, -(2 ** 31) - 0.5, 2 ** 32 - 1.5, 2 ** 32 - 0.5, 1e15, -1e15, 1e300, NaN]

test.each(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32'] as const)(
  'rounding without calls gives the same integers: %s',
  type => {
    const numbers = Float64Array.of(...NUMBERS, ...FAR, Infinity, -Infinity)
    const [fast, plain] = [allocate(type, [numbers.length]), allocate(type, [numbers.length])]
    drain(storeWhole(numbers, fast))
    drain(storeWhole(numbers, plain, x => roundHalfToEven(x)))
    expect(fast.data).toEqual(plain.data)
  }
)
