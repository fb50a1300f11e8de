import { describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource } from '../../src/files/byte-source.ts'
import { defaultLimits } from '../../src/graph/limits.ts'
import { onnx, type RootMessages } from '../../src/onnx/schema.js'
import { type Skimmed, skim as skimWithin } from '../../src/onnx/skim.ts'
import { block, encode, failure, modelAround, modelBytes, tag, TYPE, utf8, varint, watched } from './encode.ts'

const skim = (source: ByteSource, root: keyof RootMessages): Skimmed => skimWithin(source, root, defaultLimits())
const skimBytes = (bytes: Iterable<number>): ReturnType<typeof skim> =>
  skim(bytesSource('m', Uint8Array.from(bytes)), 'ModelProto')
const big = (size: number): Uint8Array => new Uint8Array(size).fill(0xee)

describe('a skim', () => {
  test('replaces elements by their place', () => {
    const rawData = big(5000)
    const bytes = modelBytes({
      graph: { name: 'g', initializer: [{ name: 'w', dims: [5000], dataType: TYPE.UINT8, rawData }] }
    })
    const { skeleton, payloads } = skim(bytesSource('m', bytes), 'ModelProto')
    expect(skeleton.length).toBeLessThan(100)
    expect(payloads).toHaveLength(1)
    const [{ field, offset, length, tagged, bytes: kept }] = payloads
    expect({ field, length, tagged, kept }).toEqual({ field: 'raw_data', length: 5000, tagged: false, kept: undefined })
    expect(bytes.subarray(offset, offset + length)).toEqual(rawData)
    const [tensor] = onnx.ModelProto.decode(skeleton).graph!.initializer
    expect(tensor).toMatchObject({ name: 'w', data_type: TYPE.UINT8, payload: [0] })
  })

  test('reads a few hundred bytes around each payload, not the payloads', () => {
    const initializer = Array.from({ length: 20 }, (_, i) => ({
      name: `w${i}`,
      dims: [100_000],
      dataType: TYPE.UINT8,
      rawData: big(100_000)
    }))
    const source = watched(bytesSource('m', modelBytes({ graph: { name: 'g', initializer } })))
    const { payloads } = skim(source, 'ModelProto')
    const total = source.reads.reduce((sum, { length }) => sum + length, 0)
    expect(total).toBeLessThan(22 * 512)
    const inside = (at: number): boolean =>
      payloads.some(({ offset, length }) => at >= offset + 512 && at < offset + length)
    expect(source.reads.some(({ offset, length }) => inside(offset) || inside(offset + length - 1))).toBe(false)
  })

  test.each(['floatData', 'int32Data', 'int64Data', 'doubleData', 'uint64Data'])('takes out packed %s', field => {
    const values = Array.from({ length: 3000 }, (_, i) => i)
    const { skeleton, payloads } = skim(
      bytesSource(
        'm',
        modelBytes({ graph: { initializer: [{ name: 'w', dims: [3000], dataType: 1, [field]: values }] } })
      ),
      'ModelProto'
    )
    expect(skeleton.length).toBeLessThan(100)
    expect(payloads).toMatchObject([{ tagged: false }])
    expect(payloads[0].field.replaceAll('_', '')).toBe(field.toLowerCase())
  })

  test('takes out elements at any depth: attributes, bodies, sparse tensors, functions', () => {
    const t = { dims: [2000], dataType: TYPE.UINT8, rawData: big(2000) }
    const body = { name: 'b', node: [{ opType: 'X', attribute: [{ name: 'l', type: 9, tensors: [t, t] }] }] }
    const bytes = modelBytes({
      graph: {
        node: [{ opType: 'If', attribute: [{ name: 'then', type: 5, g: body }] }],
        sparseInitializer: [{ values: t, indices: t, dims: [9] }]
      },
      functions: [
        { name: 'f', domain: 'd', node: [{ opType: 'Constant', attribute: [{ name: 'value', type: 4, t }] }] }
      ]
    })
    const { skeleton, payloads } = skim(bytesSource('m', bytes), 'ModelProto')
    expect(payloads.map(({ length }) => length)).toEqual([2000, 2000, 2000, 2000, 2000])
    expect(skeleton.length).toBeLessThan(500)
    for (const { offset } of payloads) expect(bytes[offset]).toBe(0xee)
  })

  test('keeps small payloads in memory and counts elements that come one by one', () => {
    const unpacked = [...tag(5, 0), 1, ...tag(5, 0), 2, ...tag(5, 0), 3]
    const { payloads } = skimBytes(modelAround(block(5, [...block(5, [9, 9]), ...unpacked, ...block(9, [1])])))
    expect(payloads).toMatchObject([
      { field: 'int32_data', tagged: false, length: 2, bytes: Uint8Array.of(9, 9) },
      { field: 'int32_data', tagged: true, elements: 3, length: 6 },
      { field: 'raw_data', tagged: false, length: 1 }
    ])
  })

  test('drops a field with the number of its own field, and every other unknown field', () => {
    const own = 536870000
    const tensor = [...block(8, utf8('w')), ...block(own, [5]), ...block(77, [1, 2, 3]), ...tag(78, 5), 0, 0, 0, 0]
    const { skeleton, dropped } = skimBytes(modelAround(block(5, tensor)))
    expect(onnx.ModelProto.decode(skeleton).graph!.initializer[0].payload).toEqual([])
    expect([...dropped]).toEqual([['TensorProto.?', 3]])
  })

  test('drops documentation without a look at it', () => {
    const source = watched(bytesSource('m', modelBytes({ graph: { name: 'g', docString: 'x'.repeat(50_000) } })))
    const { skeleton, dropped } = skim(source, 'ModelProto')
    expect(skeleton.length).toBeLessThan(60)
    expect(dropped.get('GraphProto.doc_string')).toBe(1)
    expect(source.reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(3000)
  })

  test('leaves everything else as it was', () => {
    const node = {
      input: ['a', ''],
      output: ['b'],
      name: 'n',
      opType: 'T',
      attribute: [
        { name: 'x', type: 7, ints: [1, -1, 2 ** 40] },
        { name: 's', type: 3, s: utf8('é') }
      ]
    }
    const bytes = modelBytes({ graph: { name: 'g', node: [node] }, metadataProps: [{ key: 'k', value: 'v' }] })
    expect(onnx.ModelProto.decode(skim(bytesSource('m', bytes), 'ModelProto').skeleton)).toEqual(
      onnx.ModelProto.decode(bytes)
    )
  })
})

describe('a skim refuses', () => {
  const refuses = (bytes: Iterable<number>, message: string): void => {
    const error = failure(() => skimBytes(bytes))
    expect(error.code).toBe('invalid-file')
    expect(error.message).toContain(message)
  }

  test('every cut of a file, with the byte', () => {
    const bytes = modelBytes({
      graph: {
        name: 'g',
        node: [{ opType: 'Relu', input: ['x'], output: ['y'] }],
        initializer: [{ name: 'w', dims: [4], dataType: 2, rawData: big(4) }]
      }
    })
    let refused = 0
    for (let length = 1; length < bytes.length; length++) {
      try {
        skimBytes(bytes.subarray(0, length))
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid-file', message: expect.stringMatching(/at byte \d+/) as string })
        refused++
      }
    }
    // Between two fields of the model a cut leaves a whole message.
    expect(refused).toBeGreaterThan(bytes.length - 6)
  })

  test('a length beyond the message around it', () => {
    refuses([...block(7, [...tag(2, 2), 5, 0x67])], 'GraphProto.name at byte 3: it claims 5 bytes, 1 are left')
    refuses([...tag(7, 2), ...varint(2n ** 63n)], 'ModelProto.graph at byte 1: it claims')
  })

  test('a payload beyond its tensor', () => {
    refuses(modelAround(block(5, [...tag(9, 2), ...varint(1_000_000), 1])), 'TensorProto.raw_data')
  })

  test('a number of more than 64 bits', () => {
    refuses(
      [...tag(1, 0), ...new Array<number>(10).fill(0xff), 1],
      'ModelProto.ir_version at byte 1: a number has more than 64 bits'
    )
    refuses([...tag(1, 0), ...new Array<number>(9).fill(0xff), 2], 'more than 64 bits')
  })

  test('a tag of more than 32 bits and field 0', () => {
    refuses(varint(2 ** 33), 'a tag has 32 bits')
    refuses([0x02, 0], 'there is no field 0')
  })

  test('a wire type that the field does not have', () => {
    refuses([...tag(7, 0), 1], 'ModelProto.graph at byte 0: its wire type is 0, not 2')
    refuses(modelAround([...tag(5, 5), 0, 0, 0, 0]), 'GraphProto.initializer')
    refuses(modelAround(block(5, [...tag(9, 0), 1])), 'TensorProto.raw_data')
  })

  test('groups and wire types that do not exist', () => {
    refuses([...tag(99, 3), ...tag(99, 4)], 'wire type 3 does not occur in ONNX')
    refuses([...tag(99, 7)], 'wire type 7')
  })

  test('messages nested more than 100 deep', () => {
    let type: number[] = []
    for (let i = 0; i < 60; i++) type = block(4, block(1, type))
    const error = failure(() => skimBytes(modelAround(block(11, block(2, type)))))
    expect(error).toMatchObject({ code: 'limit-exceeded', details: { limit: 'messageDepth', most: 100 } })
    expect(error.message).toContain('nested more than 100 deep')
  })

  test('graphs nested more than 32 deep', () => {
    const nested = (levels: number): number[] => (levels === 0 ? [] : block(1, block(5, block(6, nested(levels - 1)))))
    expect(failure(() => skimBytes(modelAround(nested(33)))).code).toBe('limit-exceeded')
    skimBytes(modelAround(nested(32)))
  })

  test('a small file of very many parts, before they take memory', () => {
    const nodes = new Uint8Array(2_000_000)
    for (let i = 0; i < nodes.length; i += 2) nodes[i] = 0x0a
    const model = Buffer.concat([Buffer.from(tag(7, 2)), Buffer.from(varint(nodes.length)), nodes])
    expect(failure(() => skim(bytesSource('m', model), 'ModelProto')).code).toBe('limit-exceeded')
  })
})

test('a skim of a TensorProto or another root works the same', () => {
  const bytes = encode('TensorProto', { name: 't', dims: [3], dataType: TYPE.INT64, int64Data: [1, 2, 3] })
  expect(skim(bytesSource('t', bytes), 'TensorProto').payloads).toMatchObject([
    { field: 'int64_data', bytes: Uint8Array.of(1, 2, 3) }
  ])
})
