import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import type { Model } from '../../src/graph/graph.ts'
import { propagate } from '../../src/infer/propagate.ts'
import { type Plan, planGraph } from '../../src/plan/plan.ts'
import { layer, load, net } from '../openvino/ir.ts'
import { noise } from '../wasm/compare.ts'

/** Windows of 3 x 3 that keep the dims of a plane. */
export const WINDOWS = 'strides="1,1" dilations="1,1" pads_begin="1,1" pads_end="1,1" auto_pad="explicit"'

const PRECISION = { f32: 'FP32', f16: 'FP16', i8: 'I8', u8: 'U8', i32: 'I32', i64: 'I64', boolean: 'BOOL' } as const
type Type = keyof typeof PRECISION

/** Builds an IR layer by layer; a value is the number of its layer and the port that gives it. */
export class Ir {
  private readonly layers: string[] = []
  private readonly edges: string[] = []
  private bin = new Uint8Array()

  constant(type: Type, dims: readonly number[], data: ArrayBufferView): string {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    const place = `offset="${this.bin.length}" size="${bytes.length}"`
    this.bin = new Uint8Array(Buffer.concat([this.bin, bytes]))
    return this.add('Const', [], type, dims, `element_type="${type}" shape="${dims.join()}" ${place}`)
  }

  floats(dims: readonly number[], values: readonly number[]): string {
    return this.constant('f32', dims, Float32Array.from(values))
  }

  add(type: string, inputs: readonly string[], to: Type, dims: readonly number[], data = '', names?: string): string {
    const id = this.layers.length
    const out = inputs.length
    const [name, version] = type.split('@')
    inputs.forEach((from, i) => this.edges.push(`${from}>${id}:${i}`))
    this.layers.push(
      layer(id, name, {
        ...(version && { version }),
        ...(data !== '' && { data }),
        in: inputs.map((_, i) => `${i}`),
        ...(type !== 'Result' && { out: [`${out}:${PRECISION[to]}[${dims.join()}]`] }),
        ...(names && { names })
      })
    )
    return `${id}:${out}`
  }

  input(type: Type, dims: readonly number[], name = 'x'): string {
    return this.add('Parameter', [], type, dims, `shape="${dims.join()}" element_type="${type}"`, name)
  }

  convert(x: string, to: Type, dims: readonly number[]): string {
    return this.add('Convert', [x], to, dims, `destination_type="${to}"`)
  }

  /** Reshape, or Transpose, by a constant. */
  move(type: 'Reshape' | 'Transpose', x: string, dims: readonly number[], by: readonly number[]): string {
    const list = this.constant('i64', [by.length], BigInt64Array.from(by, BigInt))
    return this.add(type, [x, list], 'f32', dims, type === 'Reshape' ? 'special_zero="false"' : '')
  }

  /** Two halves of the channels. */
  halves(x: string, [images, channels, ...plane]: readonly number[]): readonly [string, string] {
    const axis = this.constant('i64', [], BigInt64Array.of(1n))
    const id = this.layers.length
    const dims = [images, channels / 2, ...plane].join()
    const out = [2, 3].map(port => `${port}:FP32[${dims}]`)
    ;[x, axis].forEach((from, i) => this.edges.push(`${from}>${id}:${i}`))
    this.layers.push(layer(id, 'Split', { data: 'num_splits="2"', in: ['0', '1'], out }))
    return [`${id}:2`, `${id}:3`]
  }

  /** FakeQuantize with bounds for all. */
  fake(x: string, dims: readonly number[], [low, high]: readonly [number, number], levels = 256): string {
    const bounds = [low, high, low, high].map(bound => this.floats(new Array<number>(dims.length).fill(1), [bound]))
    return this.add('FakeQuantize', [x, ...bounds], 'f32', dims, `levels="${levels}"`)
  }

  /** Weights that FakeQuantize rounds, with bounds for each row. */
  rounded(dims: readonly number[], levels = 255): string {
    const rows = [dims[0], ...dims.slice(1).map(() => 1)]
    const highs = Array.from({ length: dims[0] }, (_, row) => (row + 1) / 8)
    const bounds = [highs.map(x => -x), highs, highs.map(x => -x), highs].map(list => this.floats(rows, list))
    return this.add(
      'FakeQuantize',
      [this.floats(dims, [...noise(dims, 5).data]), ...bounds],
      'f32',
      dims,
      `levels="${levels}"`
    )
  }

  /** Numbers of codes: Convert, Subtract, Multiply. */
  weights(type: 'i8' | 'u8', dims: readonly number[], ofScales: readonly number[], hasZeros: boolean): string {
    const count = ofScales.reduce((all, dim) => all * dim, 1)
    const codes = Int8Array.from(noise(dims, 5, 127).data, Math.round)
    const scales = Array.from(noise([count], 6).data, x => 0.001 + Math.abs(x) / 50)
    let numbers = this.add('Convert', [this.constant(type, dims, codes)], 'f32', dims, 'destination_type="f32"')
    if (hasZeros) {
      const zeros = this.constant(
        type,
        ofScales,
        Int8Array.from(noise([count], 7, 9).data, x => Math.abs(Math.round(x)))
      )
      const points = this.add('Convert', [zeros], 'f32', ofScales, 'destination_type="f32"')
      numbers = this.add('Subtract', [numbers, points], 'f32', dims)
    }
    return this.add('Multiply', [numbers, this.floats(ofScales, scales)], 'f32', dims)
  }

  /** The files of a model with this output. */
  files(y: string): { readonly xml: string; readonly bin: Uint8Array } {
    this.add('Result', [y], 'f32', [])
    return { xml: net(this.layers, this.edges), bin: this.bin }
  }

  model(y: string): Model {
    const { xml, bin } = this.files(y)
    return load(xml, bin)
  }
}

/** The plan of the outputs of a model. */
export const planOfIr = (model: Model, isExact = false): Plan => {
  const result = propagate(bind(model, registryWith()))
  return planGraph(
    result,
    result.bound.graph.outputs.map(({ value }) => value),
    { isExact }
  )
}
