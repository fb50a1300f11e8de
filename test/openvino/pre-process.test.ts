import { describe, expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { inDialect } from '../../src/convert/dialect.ts'
import { check, type DType, InferenceSession, type Model, Tensor } from '../../src/index.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'
import { findings, layer, load, net } from './ir.ts'
import { filesOf, writtenAgain } from './write/same.ts'

const PORT = { f32: 'FP32', f16: 'FP16', f64: 'FP64', i64: 'I64', boolean: 'BOOL' } as const
interface Case {
  readonly shape?: string
  readonly type?: keyof typeof PORT
  readonly version?: 10 | 11
  readonly bin?: Uint8Array
}
/** x → Relu → y with a `<pre-process>` section. */
function model(section: string, { shape = '1,3,1,2', type = 'f32', version = 11, bin }: Case = {}): Model {
  const port = `${PORT[type]}[${shape.replace('?', '-1')}]`
  const layers = [
    layer(0, 'Parameter', {
      name: 'x',
      data: `shape="${shape}" element_type="${type}"`,
      out: [`0:${port}`],
      names: 'x'
    }),
    layer(1, 'ReLU', { in: [`0:${port}`], out: [`1:${port}`], names: 'y' }),
    layer(2, 'Result', { in: [`0:${port}`] })
  ]
  return load(net(layers, ['0:0>1:0', '1:1>2:0'], section, version), bin)
}
const channels = (...means: string[]): string => means.map((mean, i) => `<channel id="${i}">${mean}</channel>`).join('')
const section = (content: string, reference = ' reference-layer-name="x"'): string =>
  `<pre-process mean-precision="FP32"${reference}>${content}</pre-process>`
const values = (...list: (number | string)[]): string => channels(...list.map(value => `<mean value="${value}"/>`))
const images = (...offsets: number[]): string =>
  channels(...offsets.map(offset => `<mean offset="${offset}" size="8"/>`))
const TEN_ON = new Uint8Array(Float32Array.of(10, 11, 12, 13, 14, 15).buffer)

/** What the model gives for an input of which each element is 20. */
async function result(of: Model, dims: readonly number[] = [1, 3, 1, 2]): Promise<number[]> {
  const type: DType = of.irVersion === 10 ? 'float32' : dtypeOf(of)
  const count = dims.reduce((product, dim) => product * dim, 1)
  const list = Array.from({ length: count }, () => (type === 'int64' ? 20n : 20))
  const { y } = await new InferenceSession(of).run({ x: new Tensor(type, list as never, dims) })
  return Array.from(y.data as ArrayLike<number | bigint>, Number)
}
const dtypeOf = ({ graph }: Model): DType => {
  const declared = graph.inputs[0].declared
  return (declared?.kind === 'tensor' ? declared.type : undefined) ?? 'float32'
}
const faults = (of: Model): string[] => of.graph.findings.map(({ message }) => message)

// All results are those of OpenVINO 2026.4.1.
describe('mean values of <pre-process>', () => {
  test('are subtracted from the input, a number or an image for each channel, in IR 10 and 11', async () => {
    for (const version of [10, 11] as const) {
      expect(await result(model(section(values(1, 2, 3)), { version }))).toEqual([19, 19, 18, 18, 17, 17])
      const image = model(section(images(0, 8, 16)), { version, bin: TEN_ON })
      expect(await result(image)).toEqual([10, 9, 8, 7, 6, 5])
      expect(await result(image)).toEqual([10, 9, 8, 7, 6, 5])
    }
  })

  test('belong to the second dim, of three to the first', async () => {
    expect(await result(model(section(values(1, 2)), { shape: '2,3,1' }), [2, 3, 1])).toEqual([19, 19, 19, 18, 18, 18])
    expect(await result(model(section(values(1, 2, 3)), { shape: '2,3' }), [2, 3])).toEqual([19, 18, 17, 19, 18, 17])
    const five = model(section(values(1, 2, 3)), { shape: '1,3,1,1,2' })
    expect(await result(five, [1, 3, 1, 1, 2])).toEqual([19, 19, 18, 18, 17, 17])
    const pixels = section(channels('<mean offset="0" size="4"/>', '<mean offset="8" size="4"/>'))
    expect(await result(model(pixels, { shape: '1,2', bin: TEN_ON }), [1, 2])).toEqual([10, 8])
  })

  test('are of the first input of rank 4 where none is named; channels without an id are counted', async () => {
    expect(await result(model(section(values(1, 2, 3), '')))).toEqual([19, 19, 18, 18, 17, 17])
    expect(await result(model(section(values(1, 2, 3).replace(/ id="\d"/g, ''))))).toEqual([19, 19, 18, 18, 17, 17])
  })

  test('are rounded to the type of the input: floats to nearest, integers towards zero', async () => {
    expect(await result(model(section(values(1.7, 2, 3)), { type: 'f16', version: 10 }))).toEqual([
      18.296875, 18.296875, 18, 18, 17, 17
    ])
    expect(await result(model(section(values(1.7, 2, -1.7)), { type: 'i64' }))).toEqual([19, 19, 18, 18, 21, 21])
    expect((await result(model(section(values(0.1, 1, 1)), { type: 'f64' })))[0]).toBe(20 - Math.fround(0.1))
  })

  test('of one channel and number count once; of several numbers the largest counts', async () => {
    const twice = '<channel id="0"><mean value="1"/></channel>'
    expect(await result(model(section(twice + values(1, 2, 3))))).toEqual([19, 19, 18, 18, 17, 17])
    const other = '<channel id="0"><mean value="2"/></channel><channel id="1"><mean value="3"/></channel>'
    expect(await result(model(section(twice + other)))).toEqual([18, 18, 17, 17, 20, 20])
  })

  test('are all that counts: scales, and channels without means, change nothing', async () => {
    const scaled = model(section(values(1, 2, 3).replace('<mean', '<scale value="2"/><mean')))
    expect(scaled.notes).toEqual(['<scale> in <channel> is not read'])
    expect(await result(scaled)).toEqual([19, 19, 18, 18, 17, 17])
    for (const nothing of ['', '<channel/>', '<channel><mean size="8"/></channel>'])
      expect(await result(model(section(nothing)))).toEqual([20, 20, 20, 20, 20, 20])
  })

  test.each([
    ['of "nope", and no Parameter', section(values(1, 2, 3), ' reference-layer-name="nope"')],
    ['has 2 mean values, and the input 3 channels', section(values(1, 2))],
    ['has a channel 7', section(values(1, 2) + '<channel id="7"><mean value="3"/></channel>')],
    ['value "abc" of a <mean> is no number', section(values(1, 'abc', 3))],
    ['value "inf" of a <mean> is no number', section(values(1, 'inf', 3))],
    ['value "" of a <mean> is no number', section(values(1, '', 3))],
    ['id "-1" of a <channel> is no number', section('<channel id="-1"><mean value="3"/></channel>')],
    ['offset "-8" of a <mean> is no number', section(images(0, 8, -8))],
    ['f32 of shape [1, 1, 2] needs 8 bytes, size is 4', section(images(0, 8, 16).replaceAll('size="8"', 'size="4"'))],
    ['neither value nor size', section('<channel><mean/></channel>')],
    ['some channels of <pre-process> have a value', section(channels('<mean value="1" offset="0" size="8"/>'))],
    ['channel 2 of <pre-process> has no mean image', section(images(0, 16) + images(8))],
    ['rank is 1', section(''), { shape: '6' }],
    ['rank is 6', section(''), { shape: '1,3,1,1,1,2' }],
    ['dims are not all known', section(''), { shape: '?,3,1,2' }],
    ['from whose type boolean nothing', section(''), { type: 'boolean' }]
  ] as const)('that do not fit are refused: %s', async (message, text, how: Case = {}) => {
    const of = model(text, { bin: TEN_ON, ...how })
    expect(findings(of)).toEqual(['pre-process'])
    expect(faults(of)[0]).toContain(message)
    await expect(result(of)).rejects.toMatchObject({ code: 'invalid-graph' })
  })

  test('beyond the .bin are found by check and fail the run', async () => {
    const of = model(section(images(0, 8, 20)), { bin: TEN_ON })
    expect(check(of).findings.map(({ code }) => code)).toEqual(['invalid-file'])
    await expect(result(of)).rejects.toMatchObject({ code: 'invalid-file' })
    await expect(result(model(section(images(0, 8, 16))))).rejects.toMatchObject({ code: 'missing-file' })
  })

  test('of a huge input take no memory before it is given', () => {
    const size = 2 ** 40
    const huge = section(channels(`<mean offset="0" size="${size * 4}"/>`, `<mean offset="0" size="${size * 4}"/>`))
    expect(findings(model(huge, { shape: `1,2,1,${size}`, bin: TEN_ON }))).toEqual([])
  })

  test('are written again, images at their new offsets', async () => {
    const values3 = section(values(1, 2, 3))
    expect(filesOf(model(values3)).xml).toContain('<mean value="2" />')
    const moved = model(section(images(16, 8, 0)), { bin: TEN_ON })
    expect(filesOf(moved).bin).toEqual(
      Uint8Array.of(...TEN_ON.slice(16), ...TEN_ON.slice(8, 16), ...TEN_ON.slice(0, 8))
    )
    for (const of of [model(values3), moved]) {
      const { source: _, ...made } = of
      for (const again of [writtenAgain(of), writtenAgain(made)]) expect(await result(again)).toEqual(await result(of))
    }
  })

  test('are a Sub of ONNX', async () => {
    const onnx = inDialect(model(section(values(1, 2, 3))), 'onnx', registryWith(), ALL_CONVERSIONS)
    expect(onnx.graph.nodes.map(({ type }) => type)).toEqual(['Sub', 'Relu'])
    expect(await result(onnx)).toEqual([19, 19, 18, 18, 17, 17])
  })
})
