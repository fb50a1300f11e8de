import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { noise } from '../wasm/compare.ts'
import { Ir, planOfIr } from './ir-model.ts'
import { opsOf } from './plan.ts'

const DIMS = [3, 50]

interface Form {
  readonly type?: 'u8' | 'i8'
  readonly bounds?: readonly [number, number]
  readonly mode?: string
  readonly scale?: readonly number[]
  readonly zero?: 'u8' | 'i8'
}

/** Numbers divided by a scale, rounded, moved by a zero point, clamped and converted. */
function modelOf({ type = 'u8', bounds = [0, 255], mode = 'half_to_even', scale = [], zero = type }: Form = {}): Model {
  const ir = new Ir()
  const inputs = [ir.input('f32', DIMS), ir.input('f32', scale, 'scale'), ir.input(zero, [], 'zero')]
  const quotient = ir.add('Divide', inputs.slice(0, 2), 'f32', DIMS)
  const rounded = ir.add('Round@opset5', [quotient], 'f32', DIMS, `mode="${mode}"`)
  const moved = ir.add('Add', [rounded, ir.convert(inputs[2], 'f32', [])], 'f32', DIMS)
  const clamped = ir.add('Clamp', [moved], 'f32', DIMS, `min="${bounds[0]}" max="${bounds[1]}"`)
  return ir.model(ir.convert(clamped, type, DIMS))
}

describe('a quantization that is written out', () => {
  test.each([
    ['uint8', modelOf(), 131],
    ['int8', modelOf({ type: 'i8', bounds: [-128, 127] }), -5]
  ] as const)('to %s is QuantizeLinear, and gives the same codes', async (type, model, zero) => {
    for (const isExact of [false, true]) expect(opsOf(planOfIr(model, isExact))).toEqual(['QuantizeLinear'])
    const session = new InferenceSession(model)
    const x = noise(DIMS, 1, 3)
    x.data.set([0.125, 0.375, -0.125, 1e9, -1e9, Infinity, -Infinity, NaN, 0, -0], 7)
    for (const scale of [0.25, 0.013, 0]) {
      const feeds = { x, scale: new Tensor('float32', [scale], []), zero: new Tensor(type, [zero], []) }
      const [joined, apart] = [await session.run(feeds), await session.run(feeds, { onStep: () => undefined })]
      expect(Object.values(joined)[0].data).toEqual(Object.values(apart)[0].data)
    }
    session.dispose()
  })

  test.each([
    ['whose bounds are not those of bytes', { bounds: [0, 127] }],
    ['that rounds away from zero', { mode: 'half_away_from_zero' }],
    ['with a scale for each column', { scale: [50] }],
    ['with a zero point of another type', { zero: 'i8' }]
  ] as const)('%s stays', (_, form) => {
    expect(opsOf(planOfIr(modelOf(form)))).not.toContain('QuantizeLinear')
  })
})
