import type { Arbitrary } from 'fast-check'
import { expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween } from './plan.ts'

/** What a block begins with: one node that reads x, and the dims of both. */
interface Producer {
  readonly x: readonly number[]
  readonly w: readonly number[]
  readonly dims: readonly number[]
  /** Axis of the channels, or columns. */
  readonly axis: number
  readonly type: 'Conv' | 'MatMul'
  readonly attributes: Readonly<Record<string, number | readonly number[]>>
  readonly hasBias: boolean
}

const size = (min: number, max: number): Arbitrary<number> => fc.integer({ min, max })

const convolutions: Arbitrary<Producer> = fc
  .record({
    images: size(1, 2),
    // Groups, input and output channels of each: dense, wide enough for Winograd, grouped, depthwise.
    channels: fc.oneof(
      fc.tuple(fc.constant(1), size(1, 9), size(1, 9)),
      fc.tuple(fc.constant(1), size(16, 20), size(16, 20)),
      fc.tuple(size(2, 3), size(2, 5), size(1, 5)),
      fc.tuple(size(2, 17), fc.constant(1), size(1, 2))
    ),
    plane: fc.oneof(
      fc.tuple(size(5, 40)),
      fc.tuple(size(5, 19), size(5, 19)),
      fc.tuple(size(5, 8), size(5, 9), size(5, 9))
    ),
    kernel: fc.constantFrom(1, 2, 3, 3, 4, 5),
    stride: fc.constantFrom(1, 1, 2, 3),
    pad: size(0, 2),
    hasBias: fc.boolean()
  })
  .map(({ images, channels: [group, of, to], plane, kernel, stride, pad, hasBias }) => {
    const all = (value: number, count: number = plane.length): number[] => new Array<number>(count).fill(value)
    return {
      type: 'Conv',
      x: [images, group * of, ...plane],
      w: [group * to, of, ...all(kernel)],
      dims: [images, group * to, ...plane.map(dim => Math.floor((dim + 2 * pad - kernel) / stride) + 1)],
      axis: 1,
      attributes: { group, strides: all(stride), pads: all(pad, 2 * plane.length) },
      hasBias
    }
  })

const products: Arbitrary<Producer> = fc
  .record({ lead: fc.array(size(1, 3), { maxLength: 2 }), rows: size(1, 18), depth: size(1, 70), columns: size(1, 40) })
  .map(({ lead, rows, depth, columns }) => ({
    type: 'MatMul',
    x: [...lead, rows, depth],
    w: [depth, columns],
    dims: [...lead, rows, columns],
    axis: lead.length + 1,
    attributes: {},
    hasBias: false
  }))

/** Nodes behind it: an activation by its operator, or an operator with another operand, on either side. */
const ACTIVATIONS = ['Relu', 'Sigmoid', 'Tanh', 'HardSwish', 'LeakyRelu', 'Softplus', 'silu', 'relu6'] as const
const followers = fc.oneof(
  fc.record({ op: fc.constantFrom(...ACTIVATIONS) }),
  fc.record({
    op: fc.constantFrom('Add', 'Mul', 'Sub'),
    other: fc.constantFrom('residual', 'channels', 'number', 'itself'),
    isFirst: fc.boolean()
  })
)
type Follower = typeof followers extends Arbitrary<infer T> ? T : never

function follow(follower: Follower, from: string, to: string, name: string): object[] {
  if ('other' in follower) {
    const other = follower.other === 'itself' ? from : follower.other === 'residual' ? name : follower.other
    return [node(follower.op, follower.isFirst ? [other, from] : [from, other], [to])]
  }
  if (follower.op === 'silu') return [node('Sigmoid', [from], [name]), node('Mul', [name, from], [to])]
  return [follower.op === 'relu6' ? node('Clip', [from, 'zero', 'six'], [to]) : node(follower.op, [from], [to])]
}

/** The block as a model, and the dims of its inputs. */
function blockOf(first: Producer, list: readonly Follower[]): [ModelParts, Record<string, readonly number[]>] {
  const count = first.dims[first.axis]
  const channels = first.dims.map((_, axis) => (axis === first.axis ? count : 1))
  const weights = (name: string, dims: readonly number[], seed: number): object =>
    floats(name, dims, [...noise(dims, seed, 0.3).data])
  const residuals = list.flatMap((follower, i) =>
    'other' in follower && follower.other === 'residual' ? [`r${i}`] : []
  )
  const inputs = { x: first.x, ...Object.fromEntries(residuals.map(name => [name, first.dims])) }
  return [
    {
      inputs: Object.entries(inputs).map(([name, dims]) => port(name, 'float', dims)),
      outputs: [port('y', 'float')],
      initializers: [
        weights('w', first.w, 1),
        ...(first.hasBias ? [weights('b', [count], 2)] : []),
        weights('channels', channels, 3),
        floats('number', [], [0.7]),
        floats('zero', [], [0]),
        floats('six', [], [6])
      ],
      nodes: [
        node(first.type, ['x', 'w', ...(first.hasBias ? ['b'] : [])], ['v0'], first.attributes),
        ...list.flatMap((follower, i) =>
          follow(follower, `v${i}`, i === list.length - 1 ? 'y' : `v${i + 1}`, 'other' in follower ? `r${i}` : `s${i}`)
        )
      ]
    },
    inputs
  ]
}

test('a convolution or a product and what follows give the same in fast and in exact precision', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 2, arbitrary: convolutions }, products),
      fc.array(followers, { minLength: 1, maxLength: 4 }),
      async (first, list) => {
        expect(await differenceBetween(...blockOf(first, list))).toBeLessThan(3e-5)
      }
    ),
    { numRuns: 150 }
  )
})
