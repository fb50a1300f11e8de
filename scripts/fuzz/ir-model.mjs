// Edits of an IR file as a model: attributes, dims, types, edges, ids, constants, bodies, and its .bin.
import { PRECISIONS, TYPES, WORDS } from './ir-words.mjs'
import { numberText } from './ir-xml.mjs'
import { integer, NAMES } from './random.mjs'
import { attributeOf, childOf, copyOf, element, elementsIn, elementsOf, escaped } from './xml.mjs'

const on =
  (tag, edit, accept = () => true) =>
  (mutant, random) => {
    const found = elementsOf(mutant.root, tag).filter(accept)
    if (found.length > 0) edit(random.pick(found), random, mutant)
  }
const set = (found, name, value) => {
  const attribute = attributeOf(found, name)
  if (attribute) attribute.value = String(value)
  else found.attributes.push({ name, value: String(value) })
}

/** A list of numbers with one of them changed, one more, one less. */
function listText(random, old) {
  const list = old.split(',')
  random.weighted([
    [
      5,
      () => {
        list[random.below(list.length)] = String(integer(random, /^-?\d{1,18}$/.test(list[0]) ? BigInt(list[0]) : 0n))
      }
    ],
    [
      2,
      () => {
        list[random.below(list.length)] = numberText(random, list[0])
      }
    ],
    [1, () => list.push(String(integer(random)))],
    [1, () => list.pop()],
    [1, () => list.reverse()],
    [0.3, () => list.push(...Array(70).fill('1'))]
  ])()
  return list.join(',')
}

const attribute = on(
  'data',
  (data, random) => {
    const found = random.pick(data.attributes)
    if (/^-?[\d.]+(?:,|$)/.test(found.value) || found.value === '') found.value = listText(random, found.value)
    else if (random.chance(0.4) && TYPES.includes(found.value)) found.value = random.pick(TYPES)
    else found.value = random.chance(0.8) ? escaped(random.pick(WORDS)) : numberText(random, found.value)
  },
  ({ attributes }) => attributes.length > 0
)

const attributeGiven = on('data', (data, random, mutant) => {
  const other = random.pick(elementsOf(mutant.donor(), 'data').filter(({ attributes }) => attributes.length > 0))
  if (other) data.attributes.push({ ...random.pick(other.attributes) })
})

const dim = (mutant, random) =>
  on('dim', found => {
    found.children = [{ text: numberText(random, found.children[0]?.text) }]
  })(mutant, random)

const portRank = on('port', (port, random) => {
  if (random.chance(0.5)) port.children.splice(random.below(port.children.length + 1), 1)
  else {
    const times = random.pick([1, 1, 1, 64, 300])
    port.children.push(
      ...Array(times).fill(element('dim', {}, [{ text: random.pick(['0', '1', '2', '-1', '1099511627776']) }]))
    )
  }
})

const precision = on('port', (port, random) =>
  set(port, 'precision', random.chance(0.95) ? random.pick(PRECISIONS) : escaped(random.pick(NAMES)))
)
const elementType = on(
  'data',
  (data, random) => set(data, 'element_type', random.chance(0.95) ? random.pick(TYPES) : escaped(random.pick(NAMES))),
  data => attributeOf(data, 'element_type') !== undefined
)

/** The same other type for every value. */
const elementTypeEverywhere = (mutant, random) => {
  const [from, port] = random.pick([
    ['f32', 'FP32'],
    ['f16', 'FP16'],
    ['i32', 'I32'],
    ['i64', 'I64']
  ])
  const to = random.pick(TYPES)
  for (const found of elementsIn(mutant.root)) {
    for (const one of found.attributes)
      if (one.value === from) one.value = to
      else if (one.value === port)
        one.value = { f32: 'FP32', f16: 'FP16', f64: 'FP64', boolean: 'BOOL' }[to] ?? to.toUpperCase()
  }
}

const shape = on(
  'data',
  (data, random) => {
    const found = attributeOf(data, 'shape')
    found.value = random.chance(0.7)
      ? listText(random, found.value)
      : random.pick([
          '',
          '?',
          '...',
          '?,?',
          '1..',
          '..3',
          '0',
          '-1',
          '2,?',
          '1,2,3,4,5',
          '4294967296,4294967296',
          '9007199254740993',
          Array(70).fill('1').join(',')
        ])
  },
  data => attributeOf(data, 'shape') !== undefined
)

const constant = on(
  'data',
  (data, random, { bin }) => {
    const found = attributeOf(data, random.chance(0.5) ? 'offset' : 'size')
    found.value = random.chance(0.5)
      ? String(random.between(0, (bin?.length ?? 0) + 9))
      : numberText(random, found.value)
  },
  data => attributeOf(data, 'offset') && attributeOf(data, 'size')
)

const bin = (mutant, random) => {
  const old = mutant.bin ?? Buffer.alloc(0)
  mutant.bin = random.weighted([
    [1, () => undefined],
    [2, () => old.subarray(0, random.below(old.length + 1))],
    [1, () => Buffer.concat([old, Buffer.alloc(random.pick([1, 7, 1000]))])],
    [3, () => Buffer.from(old).fill(random.pick([0, 0xff, 0x80, 0x7f, 1]), random.below(old.length + 1))],
    [
      4,
      () => {
        const copy = Buffer.from(old)
        if (copy.length >= 8) copy.writeBigInt64LE(integer(random), 8 * random.below(copy.length >> 3))
        return copy
      }
    ]
  ])()
}

const edge = on('edge', (found, random, mutant) => {
  const ids = elementsOf(mutant.root, 'layer').map(layer => attributeOf(layer, 'id')?.value ?? '')
  const [name, list] = random.pick([
    ['from-layer', ids],
    ['to-layer', ids],
    ['from-port', ['0', '1', '2', '3']],
    ['to-port', ['0', '1', '2', '3']]
  ])
  set(found, name, random.chance(0.85) ? random.pick(list) : numberText(random))
})

const edgeMore = on('edges', (found, random) => {
  if (random.chance(0.5)) found.children.splice(random.below(found.children.length + 1), 1)
  else if (found.children.length > 0) found.children.push(copyOf(random.pick(found.children)))
})

const id = (mutant, random) =>
  on(random.pick(['layer', 'port']), found => {
    if (random.chance(0.2)) found.attributes = found.attributes.filter(({ name }) => name !== 'id')
    else set(found, 'id', random.chance(0.6) ? random.below(6) : numberText(random))
  })(mutant, random)

const name = (mutant, random) =>
  on(random.pick(['layer', 'port', 'net']), found =>
    set(found, found.tag === 'port' ? 'names' : 'name', escaped(random.pick([...NAMES, 'a,b', 'a\\,b'])))
  )(mutant, random)

const operator = on('layer', (layer, random, { ops }) => {
  const { name: type, since } = random.pick(ops)
  set(layer, 'type', random.chance(0.95) ? type : escaped(random.pick(NAMES)))
  if (random.chance(0.7)) set(layer, 'version', `opset${random.chance(0.5) ? since : random.between(1, 16)}`)
})

const version = (mutant, random) =>
  on(random.chance(0.9) ? 'layer' : 'net', found =>
    set(
      found,
      'version',
      random.chance(0.8)
        ? found.tag === 'net'
          ? random.pick([10, 11])
          : `opset${random.between(1, 17)}`
        : escaped(random.pick([...NAMES, 'extension', 'opset', 'opset0', 'opset-1', 'opset99999999999', '1e1', '11.0']))
    )
  )(mutant, random)

/** Layers of another model in this one, with or without what belongs to them. */
const splice = (mutant, random) => {
  const tag = random.pick([
    'layer',
    'layer',
    'data',
    'port',
    'input',
    'output',
    'body',
    'port_map',
    'back_edges',
    'edges',
    'layers'
  ])
  const there = random.pick(elementsOf(mutant.donor(), tag))
  if (!there) return
  const here = random.pick(elementsOf(mutant.root, tag))
  if (here) {
    const { children, attributes } = copyOf(there)
    here.children = children
    const isOther = ({ name: one }) => tag !== 'layer' || one !== 'id'
    if (random.chance(0.7))
      here.attributes = [...attributes.filter(isOther), ...here.attributes.filter(one => !isOther(one))]
  } else random.pick(elementsIn(mutant.root)).children.push(copyOf(there))
}

const portMap = (mutant, random) => {
  const found = ['port_map', 'back_edges']
    .flatMap(tag => elementsOf(mutant.root, tag))
    .flatMap(({ children }) => children)
    .filter(child => child.attributes)
  const entry = random.pick(found)
  if (!entry) return
  set(
    entry,
    random.pick([
      'external_port_id',
      'internal_layer_id',
      'axis',
      'start',
      'end',
      'stride',
      'part_size',
      'purpose',
      'from-layer',
      'to-layer'
    ]),
    random.chance(0.6) ? random.between(-2, 6) : numberText(random)
  )
}

/** The net as the body of one of its own layers, which may be the body of another. */
const nestBody = on('layer', (layer, random, { root }) => {
  const depth = random.pick([1, 1, 3, 20, 40])
  const net = copyOf(root)
  const withBody = (host, body) => {
    host.children.push({ ...body, tag: random.pick(['body', 'then_body', 'else_body']), attributes: [] })
    set(host, 'type', random.pick(['TensorIterator', 'Loop', 'If']))
  }
  let body = net
  for (let i = 1; i < depth && elementsIn(net).length * depth < 5000; i++) {
    const outer = copyOf(net)
    withBody(random.pick(elementsOf(outer, 'layer')), body)
    body = outer
  }
  withBody(layer, body)
})

/** A Parameter with its input as a Const, so that kernels run while shapes are worked out. */
const constants = (mutant, random) => {
  const parameters = elementsOf(childOf(mutant.root, 'layers'), 'layer').filter(
    layer => attributeOf(layer, 'type')?.value === 'Parameter'
  )
  parameters.forEach((layer, i) => {
    const content = mutant.input(i)
    const data = childOf(layer, 'data')
    if (content === undefined || data === undefined || random.chance(0.2)) return
    const old = mutant.bin ?? Buffer.alloc(0)
    set(layer, 'type', 'Const')
    set(data, 'offset', old.length)
    set(data, 'size', content.length)
    mutant.bin = Buffer.concat([old, content])
  })
}

/** `[weight, name, edit]` */
export const MODEL_EDITS = [
  [12, 'attribute', attribute],
  [2, 'attribute-given', attributeGiven],
  [5, 'dim', dim],
  [3, 'port-rank', portRank],
  [3, 'precision', precision],
  [4, 'element-type', elementType],
  [3, 'element-type-everywhere', elementTypeEverywhere],
  [6, 'shape', shape],
  [4, 'constant', constant],
  [6, 'bin', bin],
  [4, 'edge', edge],
  [2, 'edge-more', edgeMore],
  [2, 'id', id],
  [1, 'name', name],
  [6, 'operator', operator],
  [2, 'version', version],
  [3, 'splice', splice],
  [3, 'port-map', portMap],
  [0.5, 'nest-body', nestBody],
  [5, 'constants', constants]
]
