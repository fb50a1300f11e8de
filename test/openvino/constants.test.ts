import { describe, expect, test, vi } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { bytesSource } from '../../src/files/byte-source.ts'
import type { Constant } from '../../src/graph/graph.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'
import { findings, layer, load, net } from './ir.ts'

const constLayer = (id: number, data: string): string => layer(id, 'Const', { data, out: ['0:FP32'] })
const data = (type: string, shape: string, offset: number | string, size: number | string): string =>
  `element_type="${type}" shape="${shape}" offset="${offset}" size="${size}"`

function constant(attributes: string, bin?: Uint8Array): Constant {
  const { graph } = load(net([constLayer(0, attributes)]), bin)
  const found = graph.nodes[0].constant
  if (found === undefined) throw new Error(graph.findings[0].message)
  return found
}

const values = (attributes: string, bin: readonly number[] | Uint8Array): unknown[] =>
  Array.from<unknown>(constant(attributes, Uint8Array.from(bin)).read().data as ArrayLike<unknown>)

const failure = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    if (error instanceof NodewiseError)
      return `${error.place.line}:${error.place.column} ${error.code}: ${error.reason}`
    throw error
  }
  return 'reads'
}

describe('a constant', () => {
  test('lies in the .bin, which is opened once and not before a constant is read', () => {
    const open = vi.fn(() => bytesSource('model.bin', Uint8Array.from([1, 2, 3, 4])))
    const xml = new TextEncoder().encode(
      net([constLayer(0, data('u8', '2', 1, 2)), constLayer(1, data('u8', '1', 3, 1))])
    )
    const { graph } = loadOpenvino(bytesSource('model.xml', xml), { file: 'model.xml', bin: open })
    expect(open).not.toHaveBeenCalled()
    expect(graph.nodes.map(node => [...(node.constant?.read().data ?? [])])).toEqual([[2, 3], [4]])
    expect(open).toHaveBeenCalledTimes(1)
  })

  test('says its type, dims and bytes without being read', () => {
    expect(constant(data('f32', '2, 3', 7, 24))).toMatchObject({ type: 'float32', dims: [2, 3], byteLength: 24 })
    expect(constant(data('u4', '3', 0, 2))).toMatchObject({ type: 'uint4', dims: [3], byteLength: 2 })
  })

  test('is a view of the bytes where they are aligned, and a copy where not', () => {
    const bin = new Uint8Array(16)
    new DataView(bin.buffer).setFloat32(4, 1.5, true)
    new DataView(bin.buffer).setFloat32(9, 2.5, true)
    const aligned = constant(data('f32', '1', 4, 4), bin).read().data as Float32Array
    expect([aligned[0], aligned.buffer === bin.buffer]).toEqual([1.5, true])
    const unaligned = constant(data('f32', '1', 9, 4), bin).read().data as Float32Array
    expect([unaligned[0], unaligned.buffer === bin.buffer]).toEqual([2.5, false])
  })

  test('is copied from a Buffer too', () => {
    const bin = Buffer.from([9, 1, 0, 0, 0, 0, 0, 0, 0])
    expect(constant(data('i64', '1', 1, 8), bin).read().data).toEqual(BigInt64Array.of(1n))
  })

  test('may have more bytes than it needs', () => {
    expect(values(data('u8', '2', 0, 4), [1, 2, 3, 4])).toEqual([1, 2])
  })

  test('may be empty, with a byte in the file, without one, and without a file', () => {
    expect(values(data('f32', '0,3', 0, 1), [0])).toEqual([])
    expect(values(data('f32', '0', 0, 0), [])).toEqual([])
    expect(constant(data('string', '0', 0, 1)).read().dims).toEqual([0])
  })

  test.each([
    ['u1', 10, [0b10110000, 0b01000000], [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]],
    ['u2', 5, [0xe4, 0x03], [0, 1, 2, 3, 3]],
    ['u3', 9, [0x1b, 0x1b, 0x0f, 0x40, 0x00, 0x80], [0, 1, 2, 3, 4, 5, 6, 7, 5]],
    ['u4', 3, [0x21, 0x03], [1, 2, 3]],
    ['i4', 3, [0xf1, 0x08], [1, -1, -8]],
    ['u6', 5, [0x01, 0x1f, 0x0b, 0x50, 0x00, 0x00], [0, 1, 33, 63, 5]],
    ['boolean', 3, [0, 1, 7], [0, 1, 1]],
    ['f16', 1, [0x00, 0x3c], [0x3c00]]
  ])('of %s is unpacked as OpenVINO 2026.4 packs it', (type, count, bytes, expected) => {
    expect(values(data(type, String(count), 0, bytes.length), bytes)).toEqual(expected)
  })

  test('of u3 may be cut within its last group, which is then read from the file', () => {
    expect(values(data('u3', '9', 0, 4), [0x1b, 0x1b, 0x0f, 0x40, 0x00, 0x80])[8]).toBe(5)
    expect(values(data('u3', '9', 0, 4), [0x1b, 0x1b, 0x0f, 0x40])[8]).toBe(1)
  })

  test('shows where it lies raw when it does', () => {
    const bin = new Uint8Array(16)
    expect(constant(data('f32', '2', 4, 8), bin).raw).toMatchObject({
      offset: 4,
      length: 8,
      source: { name: 'model.bin' }
    })
    expect(constant(data('f32', '2', 4, 8), bin).raw).not.toHaveProperty('layout')
    expect(constant(data('u4', '3', 4, 12), bin).raw).toMatchObject({ offset: 4, length: 2, layout: 'openvino' })
    expect(constant(data('boolean', '3', 4, 12), bin).raw).toMatchObject({ offset: 4, length: 3, layout: 'openvino' })
    expect(constant(data('string', '2', 4, 12), bin).raw).toBeUndefined()
    expect(constant(data('f32', '2', 12, 8), bin).raw).toBeUndefined()
    expect(constant(data('f32', '2', 4, 8)).raw).toBeUndefined()
  })
})

describe('strings', () => {
  const packed = (
    texts: readonly string[],
    header: (numbers: number[]) => number[] = numbers => numbers
  ): Uint8Array => {
    const parts = texts.map(text => Buffer.from(text))
    const ends = parts.map((_, i) => parts.slice(0, i + 1).reduce((sum, part) => sum + part.length, 0))
    return Buffer.concat([Buffer.from(Int32Array.from(header([texts.length, 0, ...ends])).buffer), ...parts])
  }
  const read = (bytes: Uint8Array, shape: string): unknown[] => values(data('string', shape, 0, bytes.length), bytes)

  test('lie behind their ends', () => {
    expect(read(packed(['a', '', 'é\0日']), '3')).toEqual(['a', '', 'é\0日'])
  })

  test.each([
    [
      'another number of strings than the shape says',
      packed(['a', 'b']),
      '3',
      'the constant needs 20 bytes, size is 18'
    ],
    ['fewer strings than the shape says', packed(['aaaa', 'bbbb']), '3', 'holds 2 strings, its shape says 3'],
    ['a negative number', packed(['a'], ([, ...rest]) => [-1, ...rest]), '1', 'holds -1 strings'],
    [
      'an end beyond the text',
      packed(['a'], ([n, begin]) => [n, begin, 2]),
      '1',
      'string 0 of the constant lies at 0 to 2 of 1 bytes'
    ],
    [
      'an end before its begin',
      packed(['aa', 'b'], ([n, begin, , end]) => [n, begin, 3, end - 1]),
      '2',
      'string 1 of the constant lies at 3 to 2'
    ],
    [
      'bytes that are not UTF-8',
      Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff),
      '1',
      'string 0 of the constant is not UTF-8'
    ]
  ])('with %s are refused', (_, bytes, shape, message) => {
    expect(failure(() => constant(data('string', shape, 0, bytes.length), bytes).read())).toMatch(`invalid-file: `)
    expect(failure(() => constant(data('string', shape, 0, bytes.length), bytes).read())).toMatch(message)
  })
})

describe('a constant that cannot be read', () => {
  test.each([
    [
      'beyond the .bin',
      data('f32', '2', 4, 8),
      'invalid-file: offset 4 and size 8 are beyond the 8 bytes of model.bin'
    ],
    [
      'far beyond the .bin',
      data('f32', '2', '9007199254740991', '9007199254740991'),
      'invalid-file: offset 9007199254740991'
    ],
    ['whose size is too small', data('f32', '2', 0, 4), 'invalid-file: the constant needs 8 bytes, size is 4'],
    [
      'of more elements than bytes',
      data('u1', '100000000000', 0, 8),
      'invalid-file: the constant needs 12500000000 bytes'
    ]
  ])('%s fails when it is read, at its <data>', (_, attributes, message) => {
    expect(failure(() => constant(attributes, new Uint8Array(8)).read())).toMatch(`3:59 ${message}`)
  })

  test('without a .bin is a missing file', () => {
    expect(failure(() => constant(data('f32', '1', 0, 4)).read())).toMatch('missing-file: there is no .bin')
  })
})

describe('a Const with a fault', () => {
  test.each([
    ['no <data>', layer(0, 'Const', { out: ['0:FP32'] }), 'missing-data'],
    ['no shape', constLayer(0, 'element_type="f32" offset="0" size="4"'), 'missing-attribute'],
    ['no type', constLayer(0, 'shape="1" offset="0" size="4"'), 'missing-attribute'],
    ['an unknown type', constLayer(0, data('F32', '1', 0, 4)), 'unknown-type'],
    ['a dynamic type', constLayer(0, data('dynamic', '1', 0, 4)), 'unknown-type'],
    ['an unknown dim', constLayer(0, data('f32', '?', 0, 4)), 'bad-shape'],
    ['a shape beyond 2^53', constLayer(0, data('f32', '9007199254740991,2', 0, 4)), 'bad-shape'],
    ['an offset that is no number', constLayer(0, data('f32', '1', '0x0', 4)), 'bad-number'],
    ['a negative size', constLayer(0, data('f32', '1', 0, -4)), 'bad-number'],
    ['its value in the XML', constLayer(0, `value="abcd" ${data('f32', '1', 0, 4)}`), 'constant-literal']
  ])('%s has no constant', (_, xml, code) => {
    const model = load(net([xml]))
    expect(findings(model)).toEqual([code])
    expect(model.graph.findings[0].onlyIfNeeded).toEqual({ node: 0 })
    expect(model.graph.nodes[0].constant).toBeUndefined()
  })

  test('too small a size is reported without reading', () => {
    const model = load(net([constLayer(0, data('i64', '1, 9', 0, 71))]))
    expect(model.graph.findings).toMatchObject([
      { code: 'constant-size', message: 'i64 of shape [1, 9] needs 72 bytes, size is 71' }
    ])
  })
})

test('weights count every constant, and bytes that are shared once', () => {
  const model = load(
    net([
      constLayer(0, data('f32', '2', 0, 8)),
      constLayer(1, data('f32', '2', 0, 8)),
      constLayer(2, data('u8', '3', 8, 3))
    ])
  )
  expect(model).toMatchObject({ weightBytes: 11, parameters: 7 })
})
