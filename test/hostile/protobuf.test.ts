import { describe } from 'vitest'
import { block, modelAround, modelBytes, tag, tensorInfo, TYPE, utf8, varint } from '../onnx/encode.ts'
import { type Answer, holdAll, onnx } from './hold.ts'
import { encodeModel, modelWith, node, wrapped } from './models.ts'

const REFUSED: readonly Answer[] = [
  ['check', 2, 'invalid-file'],
  ['run', 2, 'invalid-file']
]
const TOO_MUCH: readonly Answer[] = [
  ['check', 2, 'limit-exceeded'],
  ['run', 2, 'limit-exceeded']
]

const UNREAD: readonly Answer[] = [
  ['check', 1, 'unknown-op'],
  ['check --limit structureBytes=50MB', 2, 'limit-exceeded']
]

const bytes = (...parts: readonly Iterable<number>[]): Uint8Array => Uint8Array.from(parts.flatMap(part => [...part]))
const good = (): Uint8Array =>
  modelBytes({
    graph: {
      name: 'g',
      input: [tensorInfo('x', TYPE.FLOAT, [2])],
      output: [tensorInfo('y', TYPE.FLOAT, [2])],
      initializer: [{ name: 'w', dims: [2], dataType: TYPE.FLOAT, rawData: new Uint8Array(8) }],
      node: [{ opType: 'Add', input: ['x', 'w'], output: ['y'] }]
    }
  })

/** `count` messages inside each other, without a stack. */
function nested(count: number, wrap: (inner: Uint8Array) => Uint8Array, core: Uint8Array): Uint8Array {
  let inner = core
  for (let i = 0; i < count; i++) inner = wrap(inner)
  return inner
}
/** A graph whose one input is a sequence of sequences of … */
const nestedType = (depth: number): Uint8Array =>
  modelAround(
    block(
      11,
      bytes(
        block(1, utf8('x')),
        wrapped(
          2,
          nested(depth, inner => wrapped(4, wrapped(1, inner)), new Uint8Array())
        )
      )
    )
  )
/** A graph of an If whose branch holds an If, and so on. */
const nestedGraphs = (depth: number): Uint8Array =>
  modelAround(nested(depth, inner => wrapped(1, wrapped(5, wrapped(6, inner))), utf8('')))
/** One small message again and again. */
const repeated = (unit: readonly number[], size: number): Uint8Array => {
  const all = new Uint8Array(size - (size % unit.length))
  for (let i = 0; i < all.length; i++) all[i] = unit[i % unit.length]
  return all
}
const TEN_MB = 10_000_000
const attributeWith = (content: Uint8Array): Uint8Array => modelWith(wrapped(1, wrapped(5, content)))

describe('bytes that are no ONNX model are refused', () =>
  holdAll([
    onnx('an empty file', () => bytes([]), ...REFUSED),
    onnx('zeros', () => new Uint8Array(1000), ...REFUSED),
    onnx('noise', () => Uint8Array.from({ length: 1000 }, (_, i) => ((i * 7919 + 13) % 251) | 0x80), ...REFUSED),
    onnx('a text', () => utf8('this is no model'), ...REFUSED),
    onnx('a ZIP archive', () => bytes(utf8('PK\u0003\u0004'), new Uint8Array(100)), ...REFUSED),
    onnx('a PyTorch pickle', () => bytes([0x80, 2, 0x8a, 10], utf8('l\u00fcjF.')), ...REFUSED),
    onnx('a field that is cut off', () => good().slice(0, -3), ...REFUSED),
    onnx('a file that ends in a tag', () => bytes(good(), [0x80]), ...REFUSED),
    onnx('a model without a version', () => bytes(block(7, [])), ...REFUSED),
    onnx('a model without a graph', () => bytes(tag(1, 0), [9]), ...REFUSED),
    onnx('a version that is negative', () => bytes(tag(1, 0), varint(-1), block(7, [])), [
      'check',
      2,
      'unsupported-version'
    ]),
    onnx('a version of the year 2100', () => bytes(tag(1, 0), varint(2 ** 40), block(7, [])), [
      'check',
      2,
      'unsupported-version'
    ])
  ]))

describe('wire format that is broken is refused', () =>
  holdAll([
    onnx(
      'a varint of eleven bytes',
      () =>
        bytes(
          good(),
          tag(5, 0),
          Array.from({ length: 10 }, () => 0x80),
          [1]
        ),
      ...REFUSED
    ),
    onnx(
      'a varint of 64 bits and more',
      () =>
        bytes(
          good(),
          tag(5, 0),
          Array.from({ length: 9 }, () => 0xff),
          [2]
        ),
      ...REFUSED
    ),
    onnx('a length beyond the end', () => bytes(good(), tag(14, 2), varint(1000)), ...REFUSED),
    onnx('a length of 2^63', () => bytes(good(), tag(14, 2), varint(2n ** 63n)), ...REFUSED),
    onnx('a length of 2^64 - 1', () => bytes(good(), tag(14, 2), varint(2n ** 64n - 1n)), ...REFUSED),
    onnx('a nested length beyond its message', () => modelAround([...tag(1, 2), 1, ...tag(3, 2)]), ...REFUSED),
    onnx('a group', () => bytes(good(), tag(14, 3), tag(14, 4)), ...REFUSED),
    onnx('a wire type that there is not', () => bytes(good(), [(14 << 3) | 6, 0]), ...REFUSED),
    onnx('field number 0', () => bytes(good(), [0, 0]), ...REFUSED),
    onnx('a number where a message belongs', () => bytes(good(), tag(7, 0), [1]), ...REFUSED),
    onnx('a message where a number belongs', () => bytes(good(), block(1, [1])), ...REFUSED),
    onnx('a fixed number where a varint belongs', () => bytes(good(), tag(5, 1), new Uint8Array(8)), ...REFUSED),
    onnx(
      'unknown fields by the thousand, which are legal',
      () => bytes(good(), ...Array.from({ length: 1000 }, () => block(1000, [1, 2, 3]))),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'its own field for payloads',
      () =>
        modelAround(
          block(5, [...tag(1, 0), 1, ...tag(2, 0), 1, ...block(8, utf8('w')), ...block(536870000, [200, 1])])
        ),
      ['check', 1, 'constant-size']
    ),
    onnx(
      'packed dims that are cut off',
      () => modelAround(block(5, [...block(1, [0x80]), ...tag(2, 0), 1])),
      ...REFUSED
    ),
    onnx('packed floats of 7 bytes', () => modelAround(block(1, block(5, block(7, new Uint8Array(7))))), [
      'check',
      2,
      'invalid-file'
    ])
  ]))

describe('what is nested too deep is refused', () =>
  holdAll([
    onnx('messages 98 deep', () => nestedType(47), ['inspect', 0]),
    onnx('messages 102 deep', () => nestedType(50), ...TOO_MUCH, ['inspect --limit messageDepth=110', 0]),
    onnx('messages 10,000 deep', () => nestedType(5000), ...TOO_MUCH, [
      'inspect --limit messageDepth=400',
      2,
      'limit-exceeded'
    ]),
    onnx('graphs 32 deep', () => nestedGraphs(31), ['inspect', 0], ['check', 1]),
    onnx('graphs 34 deep', () => nestedGraphs(33), ...TOO_MUCH, [
      'check --limit graphDepth=40 --limit messageDepth=200',
      1
    ]),
    onnx('graphs 3,000 deep', () => nestedGraphs(3000), ...TOO_MUCH, [
      'check --limit graphDepth=400 --limit messageDepth=400',
      2,
      'limit-exceeded'
    ])
  ]))

describe('packed empties take memory in proportion to the file, or are refused', () =>
  holdAll([
    onnx('10 MB of nodes', () => modelWith(repeated([0x0a, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of attributes', () => modelWith(wrapped(1, repeated([0x2a, 0], TEN_MB))), ...TOO_MUCH),
    onnx('10 MB of initializers', () => modelWith(repeated([0x2a, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of sparse initializers', () => modelWith(repeated([0x7a, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of inputs', () => modelWith(repeated([0x5a, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of outputs', () => modelWith(repeated([0x62, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of value_info', () => modelWith(repeated([0x6a, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of functions', () => modelWith(new Uint8Array(), repeated([0xca, 1, 0], TEN_MB)), ...TOO_MUCH),
    onnx('10 MB of imports', () => modelWith(new Uint8Array(), repeated([0x42, 0], TEN_MB)), [
      'check',
      2,
      'limit-exceeded'
    ]),
    onnx('10 MB of metadata', () => modelWith(new Uint8Array(), repeated([0x72, 0], TEN_MB)), [
      'check',
      2,
      'limit-exceeded'
    ]),
    onnx('10 MB of inputs of one node', () => modelWith(wrapped(1, repeated([0x0a, 0], TEN_MB))), [
      'check',
      1,
      'unknown-op'
    ]),
    onnx('10 MB of outputs of one node', () => modelWith(wrapped(1, repeated([0x12, 0], TEN_MB))), [
      'check',
      2,
      'limit-exceeded'
    ]),
    // Lists of attributes stay in the file until a node reads them.
    onnx('10 MB of packed integers', () => attributeWith(wrapped(8, new Uint8Array(TEN_MB))), ...UNREAD),
    onnx('10 MB of empty strings', () => attributeWith(repeated([0x4a, 0], TEN_MB)), ...UNREAD),
    onnx('10 MB of dims', () => modelWith(wrapped(5, wrapped(1, repeated([1], TEN_MB)))), [
      'check',
      2,
      'limit-exceeded'
    ]),
    onnx(
      '10 MB of declared dims',
      () => modelWith(wrapped(11, wrapped(2, wrapped(1, wrapped(2, repeated([0x0a, 0], TEN_MB)))))),
      ['check', 2, 'limit-exceeded']
    ),
    onnx('10 MB of empty payloads', () => modelWith(wrapped(5, repeated([0x4a, 0], TEN_MB))), [
      'check',
      2,
      'limit-exceeded'
    ]),
    onnx('1 MB of attributes', () => modelWith(wrapped(1, repeated([0x2a, 0], 1_000_000))), ...TOO_MUCH, [
      'check --limit structureBytes=32GB',
      2,
      'limit-exceeded',
      'limit findings'
    ]),
    onnx('1 MB of imports', () => modelWith(new Uint8Array(), repeated([0x42, 0], 1_000_000)), [
      'check',
      2,
      'limit-exceeded'
    ]),
    onnx('100 KB of nodes', () => modelWith(repeated([0x0a, 0], 100_000)), ['check', 2, 'limit-exceeded']),
    onnx('100 KB of functions', () => modelWith(new Uint8Array(), repeated([0xca, 1, 0], 100_000)), [
      'check',
      2,
      'limit-exceeded'
    ])
  ]))

describe('a report stays in proportion to the file', () =>
  holdAll([
    onnx(
      '5,000 faults of a node whose name is 400 KB',
      () =>
        modelWith(
          wrapped(
            1,
            new Uint8Array(Buffer.concat([repeated([0x2a, 0], 10_000), wrapped(3, repeated([0x78], 400_000))]))
          )
        ),
      ['check', 1, 'invalid-attribute'],
      ['check --values', 1]
    ),
    onnx(
      '5,000 faults of a graph whose name is 400 KB',
      () =>
        modelWith(new Uint8Array(Buffer.concat([repeated([0x0a, 0], 10_000), wrapped(2, repeated([0x78], 400_000))]))),
      ['check', 1, 'unknown-op']
    ),
    onnx(
      'a declared shape of 2,000,000 dims',
      () => modelWith(wrapped(11, wrapped(2, wrapped(1, wrapped(2, repeated([0x0a, 0], 4_000_000)))))),
      ['check', 1, 'invalid-dim']
    ),
    onnx(
      'a dim whose name is 1 MB, in a chain of 1,000',
      () =>
        encodeModel(
          Array.from({ length: 1000 }, (_, i) =>
            node('Concat', [i === 0 ? 'x' : `v${i}`, 'x'], [i === 999 ? 'y' : `v${i + 1}`], {
              attribute: [{ name: 'axis', type: 2, i: 0 }]
            })
          ),
          {
            input: [tensorInfo('x', TYPE.FLOAT, ['n'.repeat(1_000_000)])]
          }
        ),
      ['check --values', 0, 'invalid-dim']
    )
  ]))
