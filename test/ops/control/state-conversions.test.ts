import { expect, test } from 'vitest'
import { InferenceSession, type Model } from '../../../src/index.ts'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { layer, load, net } from '../../openvino/ir.ts'
import { inOther } from '../converted.ts'
import { float, plain } from '../model.ts'

/** `was` is the variable's value, `x` is added to it; the first value is the input `start`, or zeros. */
const model = (shape: string, hasStart: boolean): Model =>
  load(
    net(
      [
        layer(0, 'Parameter', { name: 'x', data: `shape="${shape}" element_type="f32"`, out: ['0:FP32'] }),
        layer(1, 'Parameter', { name: 'start', data: `shape="${shape}" element_type="f32"`, out: ['0:FP32'] }),
        layer(2, 'ReadValue', {
          version: 'opset6',
          data: `variable_id="v" variable_type="f32" variable_shape="${shape}"`,
          ...(hasStart && { in: ['0'] }),
          out: ['1:FP32']
        }),
        layer(3, 'Add', { in: ['0', '1'], out: ['2:FP32'], data: 'auto_broadcast="numpy"' }),
        layer(4, 'Assign', { version: 'opset6', data: 'variable_id="v"', in: ['0'], out: ['1:FP32'] }),
        layer(5, 'Result', { name: 'was', in: ['0'] })
      ],
      ['0:0>3:0', '2:1>3:1', '3:2>4:0', ...(hasStart ? ['1:0>2:0'] : []), '2:1>5:0']
    )
  )

/** What runs of the IR give one after the other, and those of its ONNX form, whose caller hands on the state. */
async function seen(source: Model, feeds: readonly Record<string, Tensor>[]): Promise<[unknown[], unknown[]]> {
  const [own, other] = [new InferenceSession(source), new InferenceSession(inOther(source))]
  const kept: Record<string, Tensor> = {}
  const [expected, found]: [unknown[], unknown[]] = [[], []]
  for (const given of feeds) {
    expected.push(plain((await own.run(given)).was))
    const { was, 'v/next': next } = await other.run({ ...given, ...kept })
    kept.v = next
    found.push(plain(was))
  }
  return [expected, found]
}

test('a variable becomes an input with its first value as default, and an output called after it', async () => {
  const source = model('2', false)
  const { inputs, outputs } = inOther(source).graph
  expect([inputs.map(({ name }) => name), outputs.map(({ name }) => name)]).toEqual([
    ['x', 'start', 'v'],
    ['was', 'v/next']
  ])
  const [expected, found] = await seen(
    source,
    [float(1, 2), float(3, 4), float(5, 6)].map(x => ({ x, start: x }))
  )
  expect(found).toEqual(expected)
  expect(found.at(-1)).toEqual([[2], 4, 6])
})

test('a first value that is computed holds until a state is given', async () => {
  const [expected, found] = await seen(model('?', true), [
    { x: float(1, 2), start: float(10, 20) },
    { x: float(3, 4), start: float(30, 40) }
  ])
  expect(found).toEqual(expected)
  expect(found).toEqual([
    [[2], 10, 20],
    [[2], 11, 22]
  ])
})

test('a scalar whose first value is computed is refused, since no tensor stands for none', () => {
  const source = model('', true)
  expect(() => inOther(source)).toThrow('first value of the variable "v", which is a scalar, is computed')
})
