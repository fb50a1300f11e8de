import { describe, expect, test } from 'vitest'
import type { Call } from '../../src/bind/call.ts'
import type { Parameters, ValueOperands } from '../../src/op-kit/define.ts'
import { split } from '../../src/ops/layout/split.ts'
import { RecordedCall } from '../../src/runtime/recorded-call.ts'
import { tensorFact } from '../../src/shapes/fact.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { allocateRaw, Tensor } from '../../src/tensor/tensor.ts'

const callOf = (...outputs: readonly (readonly [DType, readonly number[]])[]): RecordedCall =>
  new RecordedCall(
    { node: { dialect: 'onnx' }, version: 18, outputs } as unknown as Call,
    outputs.map((_, i) => i),
    outputs.map(([type, dims]) => tensorFact(type, dims)),
    undefined,
    1,
    allocateRaw
  )

describe('outputs of a recorded call in one piece of memory', () => {
  test('lie one behind the other, where they stay', () => {
    const call = callOf(['float32', [2, 3]], ['float32', [4]])
    const whole = call.outputsInOne() as Float32Array
    whole.set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(call.rawOutput(0)).toMatchObject({ dims: [2, 3], data: new Float32Array([1, 2, 3, 4, 5, 6]) })
    expect(call.rawOutput(1)).toMatchObject({ dims: [4], data: new Float32Array([7, 8, 9, 10]) })
    call.seal()
    expect(call.outputsInOne()).toBe(whole)
    expect((call.rawOutput(1).data as Float32Array).buffer).toBe(whole.buffer)
  })

  test('are not to be had of several types, and where one has been made', () => {
    expect(callOf(['float32', [2]], ['int32', [2]]).outputsInOne()).toBeUndefined()
    const call = callOf(['float32', [2]], ['float32', [2]])
    call.rawOutput(1)
    expect(call.outputsInOne()).toBeUndefined()
  })
})

test.each<[DType, Float32Array | Float64Array]>([
  ['float32', new Float32Array(12).map((_, i) => i)],
  ['complex128', new Float64Array(24).map((_, i) => i)]
])('the parts of one line of %s are given where they lie', (type, data) => {
  const call = callOf([type, [1, 2, 2]], [type, [1, 4, 2]])
  const operands: ValueOperands = { data: new Tensor(type, data, [1, 6, 2]) }
  const parameters = { axis: 1, sizes: [2, 4] } as unknown as Parameters
  split.run(operands, parameters, call)
  const [first, second] = [0, 1].map(i => call.given.get(i)!)
  expect([first.dims, second.dims]).toEqual([
    [1, 2, 2],
    [1, 4, 2]
  ])
  expect([...(first.data as Float32Array), ...(second.data as Float32Array)]).toEqual([...data])
  expect((second.data as Float32Array).buffer).toBe(data.buffer)
})
