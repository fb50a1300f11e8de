import { mkdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { temporaryFolder } from '../cli/command.ts'
import { block, tag, TYPE, utf8, varint } from '../onnx/encode.ts'
import { layer, net } from '../openvino/ir.ts'
import { type Answer, holdAll, type Hostile, put } from './hold.ts'
import { encodeModel, modelWith, node, wrapped } from './models.ts'

const MB = 2 ** 20
const SIZE = 64 * MB
const COUNT = SIZE / 4
const UNREAD = 64 * MB + 0.2 * SIZE
const READ = 64 * MB + 2.5 * SIZE

/** A model whose one output is the largest of 64 MB of weights. */
const largestOf = (more: object): Uint8Array =>
  encodeModel([node('ReduceMax', ['w'], ['y'])], {
    input: [],
    initializer: [{ name: 'w', dims: [COUNT], dataType: TYPE.FLOAT, ...more }]
  })

/** The same by hand, since an encoder would take its time: float_data is field 4 of the tensor. */
function typed(): Uint8Array {
  const head = [...block(1, varint(COUNT)), ...tag(2, 0), TYPE.FLOAT, ...block(8, utf8('w'))]
  const tensor = new Uint8Array(Buffer.concat([Uint8Array.from(head), wrapped(4, new Uint8Array(SIZE))]))
  const rest = [
    ...block(12, block(1, utf8('y'))),
    ...block(1, [...block(1, utf8('w')), ...block(2, utf8('y')), ...block(4, utf8('ReduceMax'))])
  ]
  return modelWith(new Uint8Array(Buffer.concat([wrapped(5, tensor), Uint8Array.from(rest)])))
}

/** Writes a file of zeros, which the system need not store. */
const putZeros = (folder: string, file: string): void => truncateSync(put(folder, file, ''), SIZE)

const KINDS: Readonly<Record<string, (folder: string) => string>> = {
  'raw in the model': folder => put(folder, 'model.onnx', largestOf({ rawData: new Uint8Array(SIZE) })),
  'in a typed field': folder => put(folder, 'model.onnx', typed()),
  'in a file beside it': folder => {
    putZeros(folder, 'w.bin')
    return put(
      folder,
      'model.onnx',
      largestOf({ dataLocation: 1, externalData: [{ key: 'location', value: 'w.bin' }] })
    )
  },
  'in the .bin of an IR': folder => {
    putZeros(folder, 'model.bin')
    return put(
      folder,
      'model.xml',
      net(
        [
          layer(0, 'Const', {
            data: `element_type="f32" shape="${COUNT}" offset="0" size="${SIZE}"`,
            out: [`0:FP32[${COUNT}]`]
          }),
          layer(1, 'Parameter', { name: 'axes', data: 'shape="1" element_type="i64"', out: ['0:I64[1]'] }),
          layer(2, 'ReduceMax', { data: 'keep_dims="true"', in: [`0:FP32[${COUNT}]`, '1:I64[1]'], out: ['2:FP32'] }),
          layer(3, 'Result', { in: ['0:FP32'] })
        ],
        ['0:0>2:0', '1:0>2:1', '2:2>3:0']
      )
    )
  }
}

const folder = temporaryFolder()
const made = new Map<string, string>()

/** The path of a model of a kind, which is made once. */
function modelOf(name: string): string {
  let path = made.get(name)
  if (path === undefined) {
    const own = join(folder, String(made.size))
    mkdirSync(own)
    made.set(name, (path = KINDS[name](own)))
  }
  return path
}

const rows = (answer: Answer, memory: number): Hostile[] =>
  Object.keys(KINDS).map(name => ({ name, make: () => modelOf(name), answers: [answer], memory }))

describe('a model of 64 MB of which no weight is read takes 64 MB and a fifth of its size at most', () =>
  holdAll(rows(['inspect', 0], UNREAD)))
describe('a model of 64 MB whose weights are read takes 64 MB and 2.5 times its size at most', () =>
  holdAll(rows(['run --fill zeros', 0], READ)))
