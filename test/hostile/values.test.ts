import { describe } from 'vitest'
import { block, modelAround, tag, tensorInfo, TYPE, utf8, varint } from '../onnx/encode.ts'
import { found, holdAll, onnx } from './hold.ts'
import { encodeModel, ints, node, withAttribute } from './models.ts'

const tensor = (fields: object): Uint8Array =>
  encodeModel([node('Add', ['x', 'w'], ['y'])], {
    initializer: [{ name: 'w', dims: [2], dataType: TYPE.FLOAT, ...fields }]
  })
const f32 = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer)

describe('attributes', () => {
  const attribute = (...parts: readonly Iterable<number>[]): Uint8Array =>
    modelAround([
      ...block(11, [...block(1, utf8('x')), ...block(2, block(1, [...tag(1, 0), 1]))]),
      ...block(12, block(1, utf8('y'))),
      ...block(1, [
        ...block(1, utf8('x')),
        ...block(2, utf8('y')),
        ...block(4, utf8('LeakyRelu')),
        ...block(5, [...block(1, utf8('alpha')), ...parts.flatMap(part => [...part])])
      ])
    ])
  const kind = (value: number | bigint): number[] => [...tag(20, 0), ...varint(value)]
  const float = [...tag(2, 5), 0, 0, 128, 63]
  holdAll([
    onnx(
      'of the wrong type',
      () => withAttribute('LeakyRelu', { name: 'alpha', type: 2, i: 1 }),
      ['check', 1, 'unknown-attribute-value'],
      ['run --fill zeros', 2, 'unknown-attribute-value']
    ),
    onnx(
      'that say one type and hold another',
      () => attribute(kind(2), float),
      ['check', 1, 'invalid-attribute'],
      ['run --fill zeros --shape x=2', 2, 'invalid-graph']
    ),
    onnx('of a type that there is not', () => attribute(kind(99), float), ['inspect', 0]),
    onnx('of a type beyond 32 bits', () => attribute(kind(2n ** 40n + 1n), float), ['inspect', 0]),
    onnx('of a negative type', () => attribute(kind(-1), float), ['inspect', 0]),
    onnx('with values of two kinds and no type', () => attribute(float, [...tag(3, 0), 7]), [
      'check',
      1,
      'invalid-attribute'
    ]),
    onnx(
      'with several values in one field, of which the last counts',
      () => attribute(kind(1), float, float),
      ['check', 0],
      ['run --fill zeros --shape x=2', 0]
    ),
    onnx(
      'that are there twice',
      () =>
        encodeModel([
          node('LeakyRelu', ['x'], ['y'], {
            attribute: [
              { name: 'alpha', type: 1, f: 1 },
              { name: 'alpha', type: 1, f: 2 }
            ]
          })
        ]),
      ...found('duplicate-attribute')
    ),
    onnx(
      'that the operator does not have',
      () => withAttribute('Relu', { name: 'evil', type: 2, i: 1 }),
      ['check', 1, 'unknown-attribute-value'],
      ['run --fill zeros', 2, 'unknown-attribute-value']
    ),
    onnx(
      'without a name',
      () => withAttribute('Relu', { name: '', type: 2, i: 1 }),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'that should be a graph and are a number',
      () => withAttribute('If', { name: 'then_branch', type: 2, i: 1 }),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'with an axis of 2^63 - 1',
      () => withAttribute('Softmax', { name: 'axis', type: 2, i: 2 ** 62 }),
      ['check', 1, 'axis-out-of-range'],
      ['run --fill zeros', 2, 'axis-out-of-range']
    ),
    onnx(
      'with an axis of -2^63',
      () => withAttribute('Softmax', { name: 'axis', type: 2, i: -(2 ** 63) }),
      ['check', 1, 'axis-out-of-range'],
      ['run --fill zeros', 2, 'axis-out-of-range']
    ),
    onnx(
      'of a NaN',
      () => withAttribute('LeakyRelu', { name: 'alpha', type: 1, f: NaN }),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'of a type to cast to that there is not',
      () => withAttribute('Cast', { name: 'to', type: 2, i: 999 }),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'of a string that is no UTF-8',
      () => withAttribute('Cast', { name: 'to', type: 3, s: Uint8Array.of(0xff, 0xfe) }),
      ['check', 1],
      ['run --fill zeros', 2]
    )
  ])
})

describe('constants', () =>
  holdAll([
    onnx(
      'of an element type that there is not',
      () => tensor({ dataType: 99, rawData: f32(1, 2) }),
      ...found('unknown-type')
    ),
    onnx('of no element type', () => tensor({ dataType: 0, rawData: f32(1, 2) }), ...found('unknown-type')),
    onnx(
      'of an element type beyond 32 bits',
      () => modelAround(block(5, [...block(8, utf8('w')), ...tag(2, 0), ...varint(2n ** 40n + 1n)])),
      ['inspect', 0]
    ),
    onnx('with a negative dim', () => tensor({ dims: [-2], rawData: f32(1, 2) }), ...found('negative-dim')),
    onnx(
      'with two negative dims, whose product is right',
      () => tensor({ dims: [-1, -2], rawData: f32(1, 2) }),
      ...found('negative-dim')
    ),
    onnx('with a byte too few', () => tensor({ rawData: f32(1, 2).slice(0, 7) }), ...found('constant-size')),
    onnx(
      'with a byte too many',
      () => tensor({ rawData: Uint8Array.from([...f32(1, 2), 0]) }),
      ...found('constant-size')
    ),
    onnx('with an element too few', () => tensor({ floatData: [1] }), ...found('constant-size')),
    onnx('with an element too many', () => tensor({ floatData: [1, 2, 3] }), ...found('constant-size')),
    onnx('without elements', () => tensor({}), ...found('constant-size')),
    onnx('with elements in the field of another type', () => tensor({ int64Data: [1, 2] }), ...found('constant-size')),
    onnx(
      'with raw and typed elements',
      () => tensor({ rawData: f32(1, 2), floatData: [3, 4] }),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'of strings that are raw',
      () => tensor({ dataType: TYPE.STRING, rawData: f32(1, 2) }),
      ...found('constant-size')
    ),
    onnx(
      'of a sub-byte type with an odd count',
      () => tensor({ dataType: TYPE.INT4, dims: [3], rawData: Uint8Array.of(0x21, 0x03) }),
      ['inspect', 0]
    ),
    onnx(
      'of a sub-byte type with a byte too few',
      () => tensor({ dataType: TYPE.INT4, dims: [3], rawData: Uint8Array.of(0x21) }),
      ['check', 1, 'constant-size']
    ),
    onnx(
      'of 2 bits with an odd count in int32_data',
      () => tensor({ dataType: TYPE.UINT2, dims: [5], int32Data: [0xe4, 1] }),
      ['inspect', 0]
    ),
    onnx(
      'of int8 in int32_data that does not fit',
      () =>
        encodeModel([node('Cast', ['w'], ['y'], { attribute: [{ name: 'to', type: 2, i: 1 }] })], {
          initializer: [{ name: 'w', dims: [1], dataType: TYPE.INT8, int32Data: [300] }]
        }),
      ['run --fill zeros', 2, 'invalid-file']
    ),
    onnx(
      'of a varint that is cut off in its field',
      () =>
        modelAround([
          ...block(5, [...block(8, utf8('w')), ...tag(2, 0), 7, ...block(1, [1]), ...block(7, [0x80])]),
          ...block(12, block(1, utf8('w')))
        ]),
      ['run', 2]
    ),
    onnx(
      'in segments',
      () => tensor({ rawData: f32(1, 2), segment: { begin: 0, end: 2 } }),
      ...found('tensor-segment')
    ),
    onnx('of a dim of 0 and no bytes', () => tensor({ dims: [0] }), ['inspect', 0]),
    onnx('of a dim of 0 and bytes', () => tensor({ dims: [0], rawData: f32(1, 2) }), ['check', 1, 'constant-size']),
    onnx(
      'whose data begin at an odd byte',
      () =>
        encodeModel([node('Add', ['x', 'w'], ['y'])], {
          initializer: [1, 2, 3, 4].map(i => ({
            name: i === 4 ? 'w' : 'u'.repeat(i),
            dims: [2],
            dataType: TYPE.FLOAT,
            rawData: f32(1, 2)
          }))
        }),
      ['run --fill zeros', 0]
    )
  ]))

describe('sparse constants', () => {
  const sparse = (
    indices: readonly (number | bigint)[],
    more: object = {},
    dims: readonly number[] = [indices.length],
    type = 'Add'
  ): Uint8Array =>
    encodeModel([node(type, type === 'Add' ? ['x', 'w'] : ['w'], ['y'])], {
      sparseInitializer: [
        {
          dims: [2],
          values: {
            name: 'w',
            dims: [indices.length],
            dataType: TYPE.FLOAT,
            rawData: new Uint8Array(4 * indices.length)
          },
          indices: { ...ints('i', indices), dims },
          ...more
        }
      ]
    })
  holdAll([
    onnx('with an index out of range', () => sparse([2]), ['run --fill zeros', 2, 'invalid-file', 'out of range']),
    onnx('with a negative index', () => sparse([-1]), ['run --fill zeros', 2, 'invalid-file', 'out of range']),
    onnx('with an index of 2^63 - 1', () => sparse([2n ** 63n - 1n]), ['run --fill zeros', 2, 'invalid-file']),
    onnx('with an index twice', () => sparse([1, 1]), ['run --fill zeros', 2, 'invalid-file', 'ascending']),
    onnx(
      'with more indices than values',
      () => sparse([0, 1], { values: { name: 'w', dims: [1], dataType: TYPE.FLOAT, floatData: [1] } }),
      ['check', 1, 'invalid-sparse'],
      ['run --fill zeros', 2]
    ),
    onnx('without indices', () => sparse([0], { indices: undefined }), ['check', 1, 'invalid-sparse']),
    onnx(
      'with indices of floats',
      () => sparse([0], { indices: { dims: [1], dataType: TYPE.FLOAT, floatData: [0] } }),
      ['check', 1, 'invalid-sparse']
    ),
    onnx('of 2^40 elements', () => sparse([0], { dims: [2 ** 40] }), ['run --fill zeros', 2]),
    onnx('of 2^63 elements', () => sparse([0], { dims: [2 ** 32, 2 ** 31] }), ['check', 1]),
    onnx('of 2^30 elements, whose zeros no check writes out', () => sparse([0], { dims: [2 ** 30] }, [1], 'Identity'), [
      'check',
      0
    ]),
    onnx(
      'of 2^30 elements as an attribute',
      () =>
        encodeModel(
          [
            node('ConstantOfShape', ['s'], ['y'], {
              attribute: [
                {
                  name: 'value',
                  type: 11,
                  sparseTensor: {
                    dims: [2 ** 30],
                    values: { dims: [1], dataType: TYPE.FLOAT, floatData: [1] },
                    indices: ints('i', [0])
                  }
                }
              ]
            })
          ],
          { initializer: [ints('s', [2])] }
        ),
      ['check', 1, 'limit-exceeded'],
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    onnx('of 2^30 elements in a run of 64 MB', () => sparse([0], { dims: [2 ** 30] }, [1], 'Identity'), [
      'run --fill zeros --max-memory 64MB',
      2,
      'limit-exceeded'
    ])
  ])
})

describe('declared types', () => {
  const declared = (...type: number[]): Uint8Array =>
    modelAround([
      ...block(11, [...block(1, utf8('x')), ...block(2, type)]),
      ...block(12, block(1, utf8('y'))),
      ...block(1, [...block(1, utf8('x')), ...block(2, utf8('y')), ...block(4, utf8('Relu'))])
    ])
  const floatTensor = [...tag(1, 0), 1]
  holdAll([
    onnx(
      'of a negative dim',
      () => encodeModel([node('Relu', ['x'], ['y'])], { input: [tensorInfo('x', TYPE.FLOAT, [-5])] }),
      ['check', 1, 'invalid-dim']
    ),
    onnx(
      'of several kinds at once, of which the last counts',
      () => declared(...block(1, floatTensor), ...block(4, block(1, block(1, floatTensor)))),
      ['inspect', 0],
      ['check', 1]
    ),
    onnx(
      'of a dim with a value and a name, of which the last counts',
      () => declared(...block(1, [...floatTensor, ...block(2, block(1, [...tag(1, 0), 3, ...block(2, utf8('n'))]))])),
      ['check', 0]
    ),
    onnx(
      'of an element type that there is not',
      () => declared(...block(1, [...tag(1, 0), 99])),
      ['check', 1, 'unknown-type'],
      ['run --fill zeros', 2]
    ),
    onnx(
      'of an opaque type',
      () => declared(...block(7, block(1, utf8('d')))),
      ['inspect', 0],
      ['run --fill zeros', 2]
    ),
    onnx('of a map', () => declared(...block(5, [...tag(1, 0), 7])), ['inspect', 0], ['run --fill zeros', 2]),
    onnx(
      'that contradict each other',
      () =>
        encodeModel([node('Relu', ['x'], ['z']), node('Neg', ['z'], ['y'])], {
          valueInfo: [tensorInfo('z', TYPE.FLOAT, [2]), tensorInfo('z', TYPE.FLOAT, [3])]
        }),
      ['check', 1, 'contradicting-types'],
      ['run --fill zeros', 0]
    ),
    onnx(
      'that are false',
      () =>
        encodeModel([node('Relu', ['x'], ['z']), node('Neg', ['z'], ['y'])], {
          valueInfo: [tensorInfo('z', TYPE.FLOAT, [9, 9])]
        }),
      ['check', 1],
      ['run --fill zeros', 0]
    )
  ])
})
