import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type GraphParts, type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { alias, inferOnnx, rejection, runOnnx } from '../model.ts'

/** Sums up `e`; the sums are stacked. */
const summing: GraphParts = {
  inputs: [port('s', 'float', [2]), port('e', 'float', [2])],
  nodes: [node('Add', ['s', 'e'], ['s2']), alias('s2', 'o')],
  outputs: [port('s2', 'float', [2]), port('o', 'float', [2])]
}

type Attributes = Parameters<typeof node>[3]

const scan = (
  attributes: Attributes,
  dims: readonly (number | string)[],
  opset = 17,
  inputs = ['start', 'x'],
  more: readonly object[] = []
): ModelParts => ({
  opset,
  inputs: [port('start', 'float', opset === 8 ? ['b', 2] : [2]), port('x', 'float', dims), ...more],
  nodes: [node('Scan', inputs, ['last', 'all'], { num_scan_inputs: 1, body: { graph: summing }, ...attributes })],
  outputs: [port('last', 'float'), port('all', 'float')]
})

const start = new Tensor('float32', [0, 10])
const rows = new Tensor('float32', [1, 2, 3, 4, 5, 6], [3, 2])
const columns = new Tensor('float32', [1, 3, 5, 2, 4, 6], [2, 3])

describe('ONNX Scan-9', () => {
  test('walks along axis 0', async () => {
    expect(await runOnnx(scan({}, ['t', 2]), { start, x: rows })).toEqual({
      last: [[2], 9, 22],
      all: [[3, 2], 1, 12, 4, 16, 9, 22]
    })
  })

  test('walks along any axis, from either end', async () => {
    for (const axis of [1, -1]) {
      expect((await runOnnx(scan({ scan_input_axes: [axis] }, [2, 't']), { start, x: columns })).all).toEqual([
        [3, 2],
        1,
        12,
        4,
        16,
        9,
        22
      ])
    }
    expect((await runOnnx(scan({ scan_input_directions: [1] }, ['t', 2]), { start, x: rows })).all).toEqual([
      [3, 2],
      5,
      16,
      8,
      20,
      9,
      22
    ])
  })

  test('stacks along any axis, at either end', async () => {
    for (const axis of [1, -1]) {
      expect((await runOnnx(scan({ scan_output_axes: [axis] }, ['t', 2]), { start, x: rows })).all).toEqual([
        [2, 3],
        1,
        4,
        9,
        12,
        16,
        22
      ])
    }
    expect((await runOnnx(scan({ scan_output_directions: [1] }, ['t', 2]), { start, x: rows })).all).toEqual([
      [3, 2],
      9,
      22,
      4,
      16,
      1,
      12
    ])
  })

  test('of nothing gives its states and nothing stacked', async () => {
    expect(await runOnnx(scan({}, ['t', 2]), { start, x: new Tensor('float32', [], [0, 2]) })).toEqual({
      last: [[2], 0, 10],
      all: [[0, 2]]
    })
  })

  test('its shape rule puts the scanned dim where outputs are stacked', async () => {
    expect(await inferOnnx(scan({ scan_output_axes: [1] }, ['t', 2]))).toEqual({ last: '[2]', all: '[2, t]' })
  })

  test('scanned inputs of different lengths are refused', async () => {
    const graph = { ...summing, inputs: [port('s', 'float', [2]), port('e', 'float', [2]), port('f', 'float', [2])] }
    const model = scan(
      { num_scan_inputs: 2, body: { graph } },
      ['t', 2],
      17,
      ['start', 'x', 'z'],
      [port('z', 'float', ['u', 2])]
    )
    expect((await rejection(runOnnx(model, { start, x: rows, z: new Tensor('float32', [1, 2], [1, 2]) }))).code).toBe(
      'shape-mismatch'
    )
  })

  test('lists of the wrong length, directions other than 0 and 1 and far axes are refused', async () => {
    const codeOf = async (attributes: Attributes): Promise<string> =>
      (await rejection(runOnnx(scan(attributes, ['t', 2]), { start, x: rows }))).code
    expect(await codeOf({ scan_input_axes: [0, 0] })).toBe('unknown-attribute-value')
    expect(await codeOf({ scan_input_directions: [2] })).toBe('unknown-attribute-value')
    expect(await codeOf({ scan_input_axes: [2] })).toBe('axis-out-of-range')
    expect(await codeOf({ scan_output_axes: [2] })).toBe('axis-out-of-range')
    expect(await codeOf({ num_scan_inputs: 3 })).toBe('value-out-of-range')
  })
})

describe('ONNX Scan-8', () => {
  const batches = new Tensor('float32', [0, 10, 0, 20], [2, 2])
  const x = new Tensor('float32', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [2, 3, 2])
  const model = (attributes: Attributes = {}): ModelParts => scan(attributes, ['b', 't', 2], 8, ['', 'start', 'x'])
  const cut = (attributes: Attributes = {}): ModelParts =>
    scan(attributes, ['b', 't', 2], 8, ['lengths', 'start', 'x'], [port('lengths', 'int64', ['b'])])

  test('scans each batch on its own', async () => {
    expect(await runOnnx(model(), { start: batches, x })).toEqual({
      last: [[2, 2], 9, 22, 27, 50],
      all: [[2, 3, 2], 1, 12, 4, 16, 9, 22, 7, 28, 16, 38, 27, 50]
    })
  })

  test('shorter sequences end early, from either side, and zeros follow', async () => {
    const lengths = new Tensor('int64', [2n, 3n])
    expect((await runOnnx(cut(), { start: batches, x, lengths })).all).toEqual([
      [2, 3, 2],
      1,
      12,
      4,
      16,
      0,
      0,
      7,
      28,
      16,
      38,
      27,
      50
    ])
    expect((await runOnnx(cut({ directions: [1] }), { start: batches, x, lengths })).all).toEqual([
      [2, 3, 2],
      3,
      14,
      4,
      16,
      0,
      0,
      11,
      32,
      20,
      42,
      27,
      50
    ])
    expect(await runOnnx(cut(), { start: batches, x, lengths: new Tensor('int64', [0n, 0n]) })).toEqual({
      last: [[2, 2], 0, 10, 0, 20],
      all: [[2, 3, 2], ...new Array<number>(12).fill(0)]
    })
  })

  test('a length beyond the sequence is refused', async () => {
    expect((await rejection(runOnnx(cut(), { start: batches, x, lengths: new Tensor('int64', [4n, 1n]) }))).code).toBe(
      'value-out-of-range'
    )
  })

  test('no batches give no elements', async () => {
    expect(
      await runOnnx(model(), { start: new Tensor('float32', [], [0, 2]), x: new Tensor('float32', [], [0, 3, 2]) })
    ).toEqual({ last: [[0, 2]], all: [[0, 3, 2]] })
  })

  test('its shape rule keeps batch and sequence', async () => {
    expect(await inferOnnx(model())).toEqual({ last: '[b, 2]', all: '[b, t, 2]' })
    expect(await inferOnnx(cut())).toEqual({ last: '[b, 2]', all: '[b, t, 2]' })
  })
})
