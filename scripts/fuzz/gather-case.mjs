// Models of one gather, of both dialects, with right and wrong parameters, and what they must answer.
import { gatherReference, gatherTreeReference } from './gather-reference.mjs'
import { EXTREMES } from './random.mjs'
import { make, writeWire } from './wire.mjs'
import { element, writeXml } from './xml.mjs'

/** name: [storage, ONNX's number, IR's name, IR's precision, array slots an element] */
const TYPES = {
  float32: [Float32Array, 1, 'f32', 'FP32'],
  uint8: [Uint8Array, 2, 'u8', 'U8'],
  int8: [Int8Array, 3, 'i8', 'I8'],
  uint16: [Uint16Array, 4, 'u16', 'U16'],
  int16: [Int16Array, 5, 'i16', 'I16'],
  int32: [Int32Array, 6, 'i32', 'I32'],
  int64: [BigInt64Array, 7, 'i64', 'I64'],
  bool: [Uint8Array, 9, 'boolean', 'BOOL'],
  float16: [Uint16Array, 10, 'f16', 'FP16'],
  float64: [Float64Array, 11, 'f64', 'FP64'],
  uint32: [Uint32Array, 12, 'u32', 'U32'],
  uint64: [BigUint64Array, 13, 'u64', 'U64'],
  complex64: [Float32Array, 14, undefined, undefined, 2],
  complex128: [Float64Array, 15, undefined, undefined, 2],
  bfloat16: [Uint16Array, 16, 'bf16', 'BF16'],
  string: [Array, 8, 'string', 'STRING']
}
const DATA_TYPES = { onnx: Object.keys(TYPES), openvino: Object.keys(TYPES).filter(type => TYPES[type][2]) }
const INTEGERS = [
  'int32',
  'int64',
  'int32',
  'int64',
  'int32',
  'int64',
  'int8',
  'int16',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32'
]

/** Operator versions by dialect: the opset that a file names, and the version that it means. */
const VERSIONS = {
  onnx: {
    Gather: [
      [1, 1],
      [11, 11],
      [12, 11],
      [13, 13],
      [17, 13],
      [24, 13]
    ],
    GatherElements: [
      [11, 11],
      [12, 11],
      [13, 13],
      [21, 13]
    ],
    GatherND: [
      [11, 11],
      [12, 12],
      [13, 13],
      [22, 13]
    ]
  },
  openvino: {
    Gather: [
      [1, 1],
      [4, 1],
      [7, 7],
      [8, 8],
      [13, 8]
    ],
    GatherElements: [
      [6, 6],
      [9, 6],
      [15, 6]
    ],
    GatherND: [
      [5, 5],
      [7, 5],
      [8, 8],
      [14, 8]
    ],
    GatherTree: [
      [1, 1],
      [8, 1]
    ]
  }
}

const TEXTS = ['', 'a', 'é', '\0', '__proto__', 'long '.repeat(20)]

const size = dims => dims.reduce((a, b) => a * b, 1)
const tensor = (type, dims, data) => ({ type, dims, data })

function elements(random, type, count) {
  const [Storage, , , , slots = 1] = TYPES[type]
  if (type === 'string') return Array.from({ length: count }, () => random.pick(TEXTS) + random.below(1000))
  if (type === 'bool') return Uint8Array.from({ length: count }, () => random.below(2))
  const data = new Storage(count * slots)
  const bytes = new Uint32Array(Math.ceil(data.byteLength / 4)).map(() => random.seed())
  new Uint8Array(data.buffer).set(new Uint8Array(bytes.buffer, 0, data.byteLength))
  return data
}

/** Integers as a tensor's storage, and as the integers that the storage then holds. */
function integers(type, values) {
  const [Storage] = TYPES[type]
  const data = type.endsWith('64') && type !== 'float64' ? Storage.from(values) : Storage.from(values, Number)
  return {
    data,
    held: [...data].map(value =>
      Number.isFinite(value) || typeof value === 'bigint'
        ? BigInt(typeof value === 'number' ? Math.trunc(value) : value)
        : 0n
    )
  }
}

const dimsOf = (random, rank) =>
  Array.from({ length: rank }, () =>
    random.weighted([
      [12, () => random.between(1, 4)],
      [1, () => 0],
      [1, () => random.between(5, 40)]
    ])()
  )

/** Parameters that are mostly right: dims that agree, indices within. */
function draw(random, dialect) {
  const op = random.pick(['Gather', 'Gather', 'GatherElements', 'GatherND'])
  const [opset, since] = random.pick(VERSIONS[dialect][op])
  const dataDims = dimsOf(
    random,
    random.weighted([
      [20, () => random.between(1, 4)],
      [1, () => 0],
      [1, () => 5]
    ])()
  )
  const rank = dataDims.length
  let axis = random.chance(0.95) && rank > 0 ? random.between(-rank, rank - 1) : random.between(-7, 7)
  const hasBatch =
    op === 'GatherND' ? !(dialect === 'onnx' && since === 11) : op === 'Gather' && dialect === 'openvino' && since >= 7
  let indexDims = dimsOf(random, random.below(4))
  let batchDims = 0
  const at = axis < 0 ? axis + rank : axis
  if (op === 'GatherElements') {
    indexDims = dataDims.map((dim, i) =>
      i === at ? random.between(0, 6) : random.chance(dialect === 'onnx' ? 0.3 : 0.02) ? random.between(0, 4) : dim
    )
    axis = random.chance(0.1) && dialect === 'onnx' ? 0 : axis
  } else if (hasBatch) {
    batchDims = random.weighted([
      [5, () => 0],
      [5, () => random.below(Math.max(1, op === 'GatherND' ? rank : at + 1))],
      [1, () => random.between(-5, 5)]
    ])()
    indexDims = [...dataDims.slice(0, Math.max(0, batchDims)), ...indexDims]
    if (random.chance(0.05) && indexDims.length > 0) indexDims[random.below(indexDims.length)]++
  }
  if (op === 'GatherND')
    indexDims.push(
      random.chance(0.95) ? random.between(1, Math.max(1, rank - Math.max(0, batchDims))) : random.below(5)
    )
  if (hasBatch && op === 'Gather' && random.chance(0.3) && batchDims > 0) batchDims -= indexDims.length
  return { op, dialect, opset, since, axis, batchDims, hasBatch, dataDims, indexDims }
}

function indexValues(random, { op, axis, dataDims, indexDims, batchDims }) {
  const rank = dataDims.length
  const width = indexDims.at(-1) ?? 1
  const wild = random.chance(0.15)
  return Array.from({ length: size(indexDims) }, (_, i) => {
    const length = dataDims[op === 'GatherND' ? batchDims + (i % width) : axis < 0 ? axis + rank : axis] ?? 1
    if (wild && random.chance(0.3)) return random.pick(EXTREMES)
    return (
      BigInt(length === 0 ? 0 : random.below(length)) -
      BigInt(wild || random.chance(0.05) ? length * random.below(2) : 0)
    )
  })
}

/**
 * @returns `{ model, bin?, feeds, expect, told }`: `feeds` by name, `expect` as of the reference with the data that its
 *   positions are of.
 */
export function gatherCase(random, dialect) {
  if (dialect === 'openvino' && random.chance(0.12)) return treeCase(random)
  const drawn = draw(random, dialect)
  if (size(drawn.dataDims) > 20_000 || size(drawn.indexDims) * size(drawn.dataDims) > 400_000)
    return gatherCase(random, dialect)
  const dataType = random.pick(DATA_TYPES[dialect])
  const indexType = random.chance(0.9)
    ? random.pick(drawn.op === 'GatherND' ? ['int64'] : ['int32', 'int64'])
    : random.pick(INTEGERS)
  const { data, held } = integers(indexType, indexValues(random, drawn))
  const node = { ...drawn, dataType, indexType, indices: held }
  const inputs = {
    data: tensor(dataType, node.dataDims, elements(random, dataType, size(node.dataDims))),
    indices: tensor(indexType, node.indexDims, data)
  }
  const expect = { ...gatherReference(node), of: inputs.data }
  const constant = new Set(['data', 'indices'].filter(name => inputs[name].type !== 'string' && random.chance(0.3)))
  const told = [
    `${node.op}-${node.since} (${dialect} opset ${node.opset}) axis ${node.axis} batch_dims ${node.batchDims}`,
    `${dataType}[${node.dataDims}] ${indexType}[${node.indexDims}]`
  ].join(' ')
  return {
    ...(dialect === 'onnx' ? onnxModel(node, inputs, constant) : irModel(node, inputs, constant, random)),
    expect,
    told
  }
}

const bytesOf = ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)
const feedsOf = (inputs, constant) => Object.fromEntries(Object.entries(inputs).filter(([name]) => !constant.has(name)))

function onnxModel({ op, opset, axis, batchDims, hasBatch }, inputs, constant) {
  const attribute = (name, value) => make('AttributeProto', { name, type: 2n, i: BigInt(value) })
  const declared = (name, elemType, dims) =>
    make('ValueInfoProto', {
      name,
      type: make('TypeProto', {
        tensor_type: make('TypeProto.Tensor', {
          elem_type: BigInt(elemType),
          shape:
            dims &&
            make('TensorShapeProto', {
              dim: dims.map(dim => make('TensorShapeProto.Dimension', { dim_value: BigInt(dim) }))
            })
        })
      })
    })
  const attributes = [
    ...(op === 'GatherND' ? [] : [attribute('axis', axis)]),
    ...(hasBatch ? [attribute('batch_dims', batchDims)] : [])
  ]
  const names = Object.keys(inputs)
  const code = name => TYPES[inputs[name].type][1]
  const graph = make('GraphProto', {
    name: 'g',
    node: [make('NodeProto', { op_type: op, input: names, output: ['out'], attribute: attributes })],
    input: names.filter(name => !constant.has(name)).map(name => declared(name, code(name), inputs[name].dims)),
    output: [declared('out', code('data'))],
    initializer: [...constant].map(name =>
      make('TensorProto', {
        name,
        data_type: BigInt(code(name)),
        dims: { packed: inputs[name].dims.map(BigInt) },
        raw_data: bytesOf(inputs[name])
      })
    )
  })
  const root = make('ModelProto', {
    ir_version: 9n,
    opset_import: [make('OperatorSetIdProto', { domain: '', version: BigInt(opset) })],
    graph
  })
  return { model: writeWire(root), feeds: feedsOf(inputs, constant) }
}

function irModel(node, inputs, constant, random) {
  const { op, opset, axis, batchDims, hasBatch } = node
  const all =
    op === 'Gather'
      ? { ...inputs, axis: tensor('int64', random.chance(0.5) ? [] : [1], BigInt64Array.of(BigInt(axis))) }
      : inputs
  const fixed = new Set(op === 'Gather' && random.chance(0.7) ? [...constant, 'axis'] : constant)
  const data = { ...(op === 'GatherElements' && { axis }), ...(hasBatch && { batch_dims: batchDims }) }
  return irNet(op, opset, data, all, fixed)
}

/** One layer with its inputs before it and a Result behind it; constants lie in the .bin. */
function irNet(type, opset, data, inputs, constant) {
  const chunks = []
  let offset = 0
  const port = (id, { type: name, dims }) =>
    element(
      'port',
      { id, precision: TYPES[name][3] },
      dims.map(dim => element('dim', {}, [{ text: String(dim) }]))
    )
  const unknown = id => element('port', { id, precision: TYPES[Object.values(inputs)[0].type][3] })
  const names = Object.keys(inputs)
  const layers = names.map((name, id) => {
    const one = inputs[name]
    const declared = { element_type: TYPES[one.type][2], shape: one.dims.join(',') }
    if (constant.has(name)) {
      chunks.push(bytesOf(one))
      Object.assign(declared, { offset, size: chunks.at(-1).length })
      offset += chunks.at(-1).length
    }
    return element('layer', { id, name, type: constant.has(name) ? 'Const' : 'Parameter', version: 'opset1' }, [
      element('data', declared),
      element('output', {}, [port(0, one)])
    ])
  })
  const id = names.length
  layers.push(
    element('layer', { id, name: 'op', type, version: `opset${opset}` }, [
      element('data', data),
      element(
        'input',
        {},
        names.map((name, i) => port(i, inputs[name]))
      ),
      element('output', {}, [unknown(id)])
    ])
  )
  layers.push(
    element('layer', { id: id + 1, name: 'out', type: 'Result', version: 'opset1' }, [
      element('input', {}, [unknown(0)])
    ])
  )
  const edges = [
    ...names.map((_, i) => element('edge', { 'from-layer': i, 'from-port': 0, 'to-layer': id, 'to-port': i })),
    element('edge', { 'from-layer': id, 'from-port': id, 'to-layer': id + 1, 'to-port': 0 })
  ]
  const net = element('net', { name: 'gather', version: 11 }, [
    element('layers', {}, layers),
    element('edges', {}, edges)
  ])
  return { model: Buffer.from(writeXml(net)), bin: Buffer.concat(chunks), feeds: feedsOf(inputs, constant) }
}

function treeCase(random) {
  const type = random.pick(['int32', 'int64', 'float32', 'uint8'])
  const dims = [random.between(0, 5), random.between(0, 3), random.between(0, 4)]
  const count = size(dims)
  const wild = random.chance(0.1)
  const numbers = (length, high) => Array.from({ length }, () => random.below(high + 1))
  const steps = numbers(count, 5)
  const parents = numbers(count, Math.max(0, dims[2] - 1)).map(parent =>
    wild && random.chance(0.1) ? parent + 7 : parent
  )
  const lengths = numbers(dims[1], dims[0] + 1)
  const end = random.below(6)
  const store = (values, shape) => tensor(type, shape, integers(type, values.map(BigInt)).data)
  const inputs = {
    step_ids: store(steps, dims),
    parent_ids: store(parents, dims),
    max_seq_len: store(lengths, [dims[1]]),
    end_token: store([end], [])
  }
  const constant = new Set(Object.keys(inputs).filter(() => random.chance(0.2)))
  const expect = {
    ...gatherTreeReference({ dims, steps, parents, lengths, end }),
    of: inputs.step_ids,
    zero: inputs.end_token.data[0]
  }
  return {
    ...irNet('GatherTree', random.pick(VERSIONS.openvino.GatherTree)[0], {}, inputs, constant),
    expect,
    told: `GatherTree-1 ${type}[${dims}]`
  }
}
