import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { body, layer, net } from '../../openvino/ir.ts'
import { inferIr, rejection, runIr } from '../model.ts'

/** Parameters 0 part, 1 sum so far, 2 factor; Result 5 is the new sum: part * factor + sum. */
const BODY = `<body>${body(
  [
    layer(0, 'Parameter', { data: 'shape="?,?" element_type="f32"', out: ['0:FP32[-1,-1]'] }),
    layer(1, 'Parameter', { data: 'shape="?,?" element_type="f32"', out: ['0:FP32[-1,-1]'] }),
    layer(2, 'Parameter', { data: 'shape="1" element_type="f32"', out: ['0:FP32[1]'] }),
    layer(3, 'Multiply', { data: 'auto_broadcast="numpy"', in: ['0', '1'], out: ['2:FP32'] }),
    layer(4, 'Add', { data: 'auto_broadcast="numpy"', in: ['0', '1'], out: ['2:FP32'] }),
    layer(5, 'Result', { in: ['0'] })
  ],
  ['0:0>3:0', '2:0>3:1', '3:2>4:0', '1:0>4:1', '4:2>5:0']
)}</body>`

/** The end of the layer of an input of rank 2, and the beginning of the layer after it. */
const inputOf = (shape: string, dims: string): string =>
  `shape="${shape}" element_type="f32"/><output><port id="0" precision="FP32">${dims}</port></output></layer>\n` +
  `<layer id="2"`

const iterator = (slice: string, joined: string, shape = '2,4'): string =>
  net(
    [
      layer(0, 'Parameter', {
        name: 'x',
        data: `shape="${shape}" element_type="f32"`,
        out: [`0:FP32[${shape.replaceAll('?', '-1')}]`]
      }),
      layer(1, 'Parameter', { name: 's', data: 'shape="?,?" element_type="f32"', out: ['0:FP32[-1,-1]'] }),
      layer(2, 'Parameter', { name: 'f', data: 'shape="1" element_type="f32"', out: ['0:FP32[1]'] }),
      layer(3, 'TensorIterator', {
        in: ['0', '1', '2'],
        out: ['3:FP32', '4:FP32'],
        more: `<port_map>
        <input external_port_id="0" internal_layer_id="0" ${slice}/>
        <input external_port_id="1" internal_layer_id="1"/>
        <input external_port_id="2" internal_layer_id="2"/>
        <output external_port_id="3" internal_layer_id="5"/>
        <output external_port_id="4" internal_layer_id="5" ${joined}/>
      </port_map><back_edges><edge from-layer="5" to-layer="1"/></back_edges>${BODY}`
      }),
      layer(4, 'Result', { name: 'last', in: ['0'] }),
      layer(5, 'Result', { name: 'all', in: ['0'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0', '3:4>5:0']
  )

const x = new Tensor('float32', [1, 2, 3, 4, 10, 20, 30, 40], [2, 4])
const column = new Tensor('float32', [0, 0], [2, 1])
const f = new Tensor('float32', [2])
const BACKWARD = 'axis="1" start="-1" end="0" stride="-1"'

describe('OpenVINO TensorIterator', () => {
  const run = async (slice: string, joined: string, s = column): Promise<unknown> =>
    (await runIr(iterator(slice, joined), [{ x, s, f }]))[0]

  test('takes the parts of an axis in turn and puts results side by side', async () => {
    expect(await run('axis="1"', 'axis="1"')).toEqual({
      last: [[2, 1], 20, 200],
      all: [[2, 4], 2, 6, 12, 20, 20, 60, 120, 200]
    })
    expect(await run('axis="1"', 'axis="0"')).toEqual({
      last: [[2, 1], 20, 200],
      all: [[8, 1], 2, 20, 6, 60, 12, 120, 20, 200]
    })
  })

  test('goes backward with a negative stride, on either side', async () => {
    expect(await run(BACKWARD, 'axis="1"')).toMatchObject({ all: [[2, 4], 8, 14, 18, 20, 80, 140, 180, 200] })
    expect(await run('axis="1"', BACKWARD)).toMatchObject({ all: [[2, 4], 20, 12, 6, 2, 200, 120, 60, 20] })
  })

  test('takes parts of several elements', async () => {
    const pairs = new Tensor('float32', [0, 0, 0, 0], [2, 2])
    expect(await run('axis="1" stride="2" part_size="2"', 'axis="1" stride="2" part_size="2"', pairs)).toEqual({
      last: [[2, 2], 8, 12, 80, 120],
      all: [[2, 4], 2, 4, 8, 12, 20, 40, 80, 120]
    })
    expect(
      await run('axis="1" start="-1" end="0" stride="-2" part_size="2"', 'axis="1" stride="2" part_size="2"', pairs)
    ).toMatchObject({ all: [[2, 4], 6, 8, 8, 12, 60, 80, 80, 120] })
  })

  test('start and end say how many parts there are; as in OpenVINO the first is where the axis begins', async () => {
    expect(await run('axis="1" start="1" end="-2"', 'axis="1"')).toMatchObject({ all: [[2, 2], 2, 6, 20, 60] })
  })

  test('without elements to take it gives the initial value and nothing joined', async () => {
    const none = new Tensor('float32', [], [2, 0])
    expect((await runIr(iterator('axis="1"', 'axis="1"', '2,?'), [{ x: none, s: column, f }]))[0]).toEqual({
      last: [[2, 1], 0, 0],
      all: [[2, 0]]
    })
  })

  test('parts that do not divide the axis, an axis too far and a stride of zero are refused', async () => {
    const codeOf = async (slice: string): Promise<string> =>
      (await rejection(runIr(iterator(slice, 'axis="1"'), [{ x, s: column, f }]))).code
    expect(await codeOf('axis="1" part_size="3" stride="3"')).toBe('shape-mismatch')
    expect(await codeOf('axis="2"')).toBe('axis-out-of-range')
    expect(await codeOf('axis="1" stride="0"')).toBe('value-out-of-range')
    expect(await codeOf('axis="1" end="9"')).toBe('value-out-of-range')
  })

  test('without a sliced input the first joined output says how many iterations there are', async () => {
    const model = iterator('', 'axis="1" start="0" end="3"').replace(
      'internal_layer_id="0" /',
      'internal_layer_id="0"/'
    )
    expect((await runIr(model, [{ x, s: x, f }]))[0]).toMatchObject({
      last: [[2, 4], 7, 14, 21, 28, 70, 140, 210, 280]
    })
  })

  test('its shape rule counts the parts', () => {
    const s = iterator('axis="1"', 'axis="1"', '2,?').replace(
      inputOf('?,?', '<dim>-1</dim><dim>-1</dim>'),
      inputOf('2,1', '<dim>2</dim><dim>1</dim>')
    )
    expect(inferIr(s)).toEqual({ last: '[2, 1]', all: '[2, ?]' })
    expect(inferIr(s.replace('shape="2,?"', 'shape="2,6"'))).toEqual({ last: '[2, 1]', all: '[2, 6]' })
  })
})
