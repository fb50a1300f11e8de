// Edits of an ONNX file as a model: attributes, dims, types, names, wiring, elements, versions, bodies and functions.
import { functions } from './onnx-functions.mjs'
import { WORDS } from './onnx-words.mjs'
import { FLOATS, integer, NAMES, SMALL } from './random.mjs'
import { copyOf, fieldOf, fieldsNamed, make, makeField, messagesOf, numberOf, setField, textOf } from './wire.mjs'

const one = (mutant, random, type, accept = () => true) => {
  const found = messagesOf(mutant.root, type).filter(accept)
  return found.length === 0 ? undefined : random.pick(found)
}

/** An edit of one message of a type, where there is one. */
const on = (type, edit, accept) => (mutant, random) => {
  const message = one(mutant, random, type, accept)
  if (message) edit(message, random, mutant)
}

const signed = value => BigInt.asIntN(64, value ?? 0n)
const float = random => {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(random.pick(FLOATS))
  return bytes
}
/** Values of attributes by the kind of attribute: the number of its type and its field. */
const VALUES = {
  2: (random, old) => ['i', integer(random, signed(fieldOf(old, 'i')?.value))],
  1: random => ['f', float(random)],
  3: random => ['s', random.pick(WORDS)],
  7: (random, old) => {
    const list = fieldsNamed(old, 'ints')
      .flatMap(({ value, numbers }) => numbers ?? [value])
      .map(signed)
    random.weighted([
      [
        4,
        () => {
          if (list.length > 0) list[random.below(list.length)] = integer(random)
        }
      ],
      [1, () => list.push(integer(random))],
      [1, () => list.pop()],
      [
        1,
        () => {
          list.length = 0
        }
      ],
      [1, () => list.reverse()],
      [1, () => list.fill(integer(random))],
      [0.3, () => list.push(...Array(70).fill(1n))]
    ])()
    return ['ints', list]
  },
  6: random => ['floats', Buffer.concat(Array.from({ length: random.below(5) }, () => float(random)))],
  8: random => ['strings', random.pick(WORDS)],
  4: (random, old, mutant) => ['t', one(mutant, random, 'TensorProto') ?? make('TensorProto', {})],
  5: (random, old, mutant) => ['g', one(mutant, random, 'GraphProto') ?? make('GraphProto', {})]
}
const FIELD_OF_KIND = { 1: 'f', 2: 'i', 3: 's', 4: 't', 5: 'g', 6: 'floats', 7: 'ints', 8: 'strings' }

function setValue(attribute, [name, what]) {
  if (name === 'floats') {
    attribute.fields = attribute.fields.filter(({ known }) => known?.name !== 'floats')
    attribute.fields.push({ number: 7, wire: 2, known: makeField(attribute.type, 'floats', what).known, bytes: what })
  } else setField(attribute, name, what.fields ? copyOf(what) : what)
}

const attributeValue = on(
  'AttributeProto',
  (attribute, random, mutant) => {
    const kind = Number(fieldOf(attribute, 'type')?.value ?? 0)
    const value = VALUES[kind]?.(random, attribute, mutant)
    if (value) setValue(attribute, value)
  },
  attribute => Number(fieldOf(attribute, 'type')?.value) in VALUES
)

const attributeKind = on('AttributeProto', (attribute, random, mutant) => {
  const kind = random.pick(Object.keys(VALUES))
  if (random.chance(0.7)) for (const name of Object.values(FIELD_OF_KIND)) setField(attribute, name, undefined)
  setValue(attribute, VALUES[kind](random, attribute, mutant))
  if (random.chance(0.8)) setField(attribute, 'type', random.chance(0.9) ? BigInt(kind) : integer(random))
})

/** An attribute of an operator's own in some model, with another value. */
const attributeGiven = on('NodeProto', (node, random, mutant) => {
  const other = one({ root: mutant.donor() }, random, 'NodeProto', ({ fields }) =>
    fields.some(({ known }) => known?.name === 'attribute')
  )
  const attribute = other && copyOf(random.pick(fieldsNamed(other, 'attribute')))
  if (attribute) node.fields.push(attribute)
})

const attributeName = on('AttributeProto', (attribute, random) =>
  setField(attribute, 'name', random.chance(0.5) ? random.pick(NAMES) : 'axis')
)

const dims = on('TensorProto', (tensor, random) => {
  const list = fieldsNamed(tensor, 'dims').flatMap(({ value, numbers }) => numbers ?? [value])
  random.weighted([
    [
      5,
      () => {
        if (list.length > 0) list[random.below(list.length)] = integer(random, signed(random.pick(list)))
      }
    ],
    [1, () => list.push(random.pick(SMALL))],
    [1, () => list.pop()],
    [1, () => list.push(0n)],
    [1, () => list.reverse()],
    [0.5, () => list.push(...Array(random.pick([64, 70, 2000])).fill(random.pick([1n, 0n, 2n])))]
  ])()
  setField(tensor, 'dims', list)
})

const declaredDim = on('TensorShapeProto.Dimension', (dim, random) => {
  if (random.chance(0.4)) dim.fields = []
  if (random.chance(0.8)) setField(dim, 'dim_value', integer(random, signed(fieldOf(dim, 'dim_value')?.value)))
  else setField(dim, 'dim_param', random.pick([...NAMES, 'n', 'batch', '2', 'n+1', '?']))
})

const declaredRank = on('TensorShapeProto', (shape, random) => {
  if (random.chance(0.5) && shape.fields.length > 0) shape.fields.splice(random.below(shape.fields.length), 1)
  else {
    for (let i = random.pick([1, 1, 1, 64, 300]); i > 0; i--) {
      const dim = make('TensorShapeProto.Dimension', { dim_value: random.pick([0n, 1n, 2n, 1n << 40n]) })
      shape.fields.push(makeField(shape.type, 'dim', dim))
    }
  }
})

const elementType = (mutant, random) => {
  const type = random.chance(0.85) ? BigInt(random.below(29)) : integer(random)
  const found = [
    ...messagesOf(mutant.root, 'TypeProto.Tensor').map(message => [message, 'elem_type']),
    ...messagesOf(mutant.root, 'TensorProto').map(message => [message, 'data_type'])
  ]
  if (found.length > 0) setField(...random.pick(found), type)
}

/** The same other type for every value: what is left is a model of that type. */
const elementTypeEverywhere = (mutant, random) => {
  const from = BigInt(random.pick([1, 1, 1, 7, 6, 9]))
  const to = BigInt(random.between(1, 28))
  for (const [type, name] of [
    ['TypeProto.Tensor', 'elem_type'],
    ['TensorProto', 'data_type']
  ]) {
    for (const message of messagesOf(mutant.root, type))
      if (fieldOf(message, name)?.value === from) setField(message, name, to)
  }
}

const typeKind = on('TypeProto', (type, random) => {
  const inner = copyOf(type)
  const value = random.pick([
    () => make('TypeProto', { sequence_type: make('TypeProto.Sequence', { elem_type: inner }) }),
    () => make('TypeProto', { optional_type: make('TypeProto.Optional', { elem_type: inner }) }),
    () => make('TypeProto', { map_type: make('TypeProto.Map', { key_type: 7n, value_type: inner }) }),
    () => make('TypeProto', { opaque_type: make('TypeProto.Opaque', { name: 'x' }) }),
    () => make('TypeProto', { sparse_tensor_type: make('TypeProto.SparseTensor', { elem_type: 1n }) }),
    () => make('TypeProto', {})
  ])()
  type.fields = random.chance(0.3) ? [...type.fields, ...value.fields] : value.fields
})

/** Names of values in the model, and some that are none. */
const valueName = (mutant, random) => {
  const names = messagesOf(mutant.root, 'NodeProto').flatMap(node =>
    [...fieldsNamed(node, 'input'), ...fieldsNamed(node, 'output')].map(({ bytes }) => bytes?.toString() ?? '')
  )
  for (const type of ['ValueInfoProto', 'TensorProto'])
    names.push(...messagesOf(mutant.root, type).map(message => textOf(message, 'name')))
  return random.chance(0.85) && names.length > 0 ? random.pick(names) : random.pick(NAMES)
}

const wiring = on('NodeProto', (node, random, mutant) => {
  const side = random.chance(0.7) ? 'input' : 'output'
  const found = fieldsNamed(node, side)
  random.weighted([
    [
      4,
      () => {
        if (found.length > 0) random.pick(found).bytes = Buffer.from(valueName(mutant, random))
      }
    ],
    [
      1,
      () => {
        if (found.length > 0) random.pick(found).bytes = Buffer.alloc(0)
      }
    ],
    [2, () => node.fields.push(makeField(node.type, side, valueName(mutant, random)))],
    [
      1,
      () => {
        if (found.length > 0) node.fields.splice(node.fields.indexOf(random.pick(found)), 1)
      }
    ]
  ])()
})

/** A value renamed everywhere, which leaves the model as it is, or only where it is made. */
const rename = (mutant, random) => {
  const old = valueName(mutant, random)
  const fresh = Buffer.from(random.pick(NAMES))
  for (const type of ['NodeProto', 'ValueInfoProto', 'TensorProto']) {
    for (const { fields } of messagesOf(mutant.root, type)) {
      for (const field of fields)
        if (['input', 'output', 'name'].includes(field.known?.name) && field.bytes?.toString() === old)
          field.bytes = fresh
    }
  }
}

const nodeOrder = on(
  'GraphProto',
  (graph, random) => {
    const nodes = graph.fields.flatMap((field, i) => (field.known?.name === 'node' ? [i] : []))
    const [a, b] = [random.pick(nodes), random.pick(nodes)]
    ;[graph.fields[a], graph.fields[b]] = [graph.fields[b], graph.fields[a]]
  },
  ({ fields }) => fields.some(({ known }) => known?.name === 'node')
)

const operator = on('NodeProto', (node, random, { ops }) => {
  const { name, domain } = random.pick(ops)
  setField(node, 'op_type', random.chance(0.95) ? name : random.pick(NAMES))
  setField(node, 'domain', domain === 'ai.onnx' ? undefined : domain)
})

/** Nodes (or anything) of another model in this one. */
const splice = (mutant, random) => {
  const types = [
    'NodeProto',
    'AttributeProto',
    'TensorProto',
    'ValueInfoProto',
    'GraphProto',
    'TypeProto',
    'FunctionProto',
    'SparseTensorProto'
  ]
  const type = random.pick(types)
  const here = one(mutant, random, type)
  const there = one({ root: mutant.donor() }, random, type)
  if (!there) return
  if (here) here.fields = random.chance(0.7) ? copyOf(there).fields : [...here.fields, ...copyOf(there).fields]
  const graph = fieldOf(mutant.root, 'graph')?.message
  if (type === 'NodeProto' && graph) graph.fields.push(makeField(graph.type, 'node', copyOf(there)))
}

const elements = on('TensorProto', (tensor, random) => {
  const raw = fieldOf(tensor, 'raw_data')
  if (raw?.bytes) {
    raw.bytes = random.weighted([
      [2, () => raw.bytes.subarray(0, random.below(raw.bytes.length + 1))],
      [1, () => Buffer.concat([raw.bytes, Buffer.alloc(random.pick([1, 3, 8, 1000]))])],
      [3, () => Buffer.from(raw.bytes).fill(random.pick([0, 0xff, 0x7f, 0x80, 1]), random.below(raw.bytes.length + 1))],
      [
        3,
        () => {
          const copy = Buffer.from(raw.bytes)
          if (copy.length >= 8) copy.writeBigInt64LE(integer(random), 8 * random.below(copy.length >> 3))
          return copy
        }
      ]
    ])()
    return
  }
  const typed = random.pick(['int32_data', 'int64_data', 'uint64_data'])
  setField(
    tensor,
    typed,
    Array.from({ length: random.below(6) }, () => integer(random))
  )
})

/** Elements elsewhere: outside, in devices, nowhere. */
const external = on('TensorProto', (tensor, random) => {
  setField(tensor, 'data_location', 1n)
  if (random.chance(0.7)) setField(tensor, 'raw_data', undefined)
  const entry = (key, value) => makeField(tensor.type, 'external_data', make('StringStringEntryProto', { key, value }))
  tensor.fields.push(
    entry('location', random.pick(['x.bin', '../../etc/passwd', '/dev/zero', '', '\0', 'file:///etc/passwd']))
  )
  if (random.chance(0.5)) {
    const key = random.pick(['offset', 'length'])
    tensor.fields.push(entry(key, random.pick(['-1', '0', '1e400', '18446744073709551616', '0x10', 'x'])))
  }
})

const sparse = on('GraphProto', (graph, random) => {
  const tensor = fieldsNamed(graph, 'initializer')
    .map(({ message }) => message)
    .find(Boolean)
  const values = tensor
    ? copyOf(tensor)
    : make('TensorProto', { data_type: 1n, dims: { packed: [1n] }, raw_data: Buffer.alloc(4), name: 'sparse' })
  const count = random.below(4)
  const indices = make('TensorProto', {
    data_type: 7n,
    dims: { packed: [BigInt(count)] },
    int64_data: { packed: Array.from({ length: count }, () => integer(random)) }
  })
  graph.fields.push(
    makeField(
      graph.type,
      'sparse_initializer',
      make('SparseTensorProto', {
        values,
        indices,
        dims: { packed: Array.from({ length: random.below(4) }, () => integer(random)) }
      })
    )
  )
})

const opsets = on('OperatorSetIdProto', (opset, random, { root }) => {
  setField(opset, 'version', random.chance(0.8) ? BigInt(random.between(1, 26)) : integer(random))
  if (random.chance(0.1)) setField(opset, 'domain', random.pick([...NAMES, 'ai.onnx', 'ai.onnx.ml', 'com.microsoft']))
  if (random.chance(0.1)) root.fields.push(makeField(root.type, 'opset_import', copyOf(opset)))
})

/** The inputs of the run as constants, so that kernels run while shapes are worked out. */
const constants = mutant => {
  const graph = fieldOf(mutant.root, 'graph')?.message
  if (!graph) return
  fieldsNamed(graph, 'input').forEach((field, i) => {
    const tensor = mutant.input(i)
    if (tensor === undefined || field.message === undefined) return
    setField(tensor, 'name', textOf(field.message, 'name'))
    graph.fields.push(makeField(graph.type, 'initializer', tensor))
  })
}

const bodies = (mutant, random) => {
  const found = messagesOf(mutant.root, 'GraphProto')
  const [a, b] = [random.pick(found), random.pick(found)]
  if (!a || !b) return
  if (random.chance(0.5)) a.fields = copyOf(b).fields
  else
    a.fields = random.chance(0.5)
      ? []
      : a.fields.filter(
          ({ number }) =>
            number !== numberOf('onnx.GraphProto', random.pick(['node', 'input', 'output', 'initializer']))
        )
}

/** `[weight, name, edit]` */
export const MODEL_EDITS = [
  [12, 'attribute-value', attributeValue],
  [3, 'attribute-kind', attributeKind],
  [2, 'attribute-given', attributeGiven],
  [1, 'attribute-name', attributeName],
  [5, 'dims', dims],
  [6, 'declared-dim', declaredDim],
  [2, 'declared-rank', declaredRank],
  [5, 'element-type', elementType],
  [3, 'element-type-everywhere', elementTypeEverywhere],
  [1, 'type-kind', typeKind],
  [5, 'wiring', wiring],
  [2, 'rename', rename],
  [1, 'node-order', nodeOrder],
  [6, 'operator', operator],
  [3, 'splice', splice],
  [6, 'elements', elements],
  [1, 'external', external],
  [1, 'sparse', sparse],
  [3, 'opsets', opsets],
  [6, 'constants', constants],
  [1, 'bodies', bodies],
  [1, 'functions', functions]
]
