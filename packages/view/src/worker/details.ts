import type { Attribute, Constant, Model, Tensor } from 'nodewise'
import { countOf, nameOf } from '../graph/columns.ts'
import type { Flat } from './flatten.ts'
import { histogramOf, numbersOf, type Plane, planeOf, type Statistics, statisticsOf } from './numbers.ts'
import { LEFT_OUT, portsOf } from './ports.ts'

/** What stands at a port of a node. */
export interface Port {
  readonly value: number
  readonly name: string
  /** The record that makes the value; -1 for a constant and for what nothing makes. */
  readonly maker: number
  readonly readers: readonly number[]
  /** Type and dims of a constant. */
  readonly constant?: { readonly type: string; readonly dims: readonly number[]; readonly bytes: number }
}

/** What the file says of a node. */
export interface NodeDetails {
  readonly record: number
  readonly name: string
  readonly type: string
  readonly domain: string
  readonly version: string
  readonly dialect: string
  readonly doc?: string
  readonly place: string
  readonly attributes: readonly { readonly name: string; readonly kind: string; readonly text: string }[]
  readonly inputs: readonly (Port | undefined)[]
  readonly outputs: readonly (Port | undefined)[]
}

/** What is in a tensor, for a person. */
export interface TensorDetails {
  readonly type: string
  readonly dims: readonly number[]
  readonly statistics?: Statistics
  readonly histogram?: readonly number[]
  readonly plane?: Plane
  /** The first elements. */
  readonly first: readonly string[]
}

/** Readers of values, found once for a model. */
export function readersOf({ columns, inputs }: Flat): ReadonlyMap<number, readonly number[]> {
  const readers = new Map<number, number[]>()
  for (let record = 0; record < countOf(columns); record++)
    for (let i = inputs.starts[record]; i < inputs.starts[record + 1]; i++) {
      const value = inputs.values[i]
      if (value === LEFT_OUT) continue
      const list = readers.get(value)
      if (list) list.push(record)
      else readers.set(value, [record])
    }
  return readers
}

const MAX_READERS = 100

/** Everything about the node of a record. */
export function detailsOf(
  model: Model,
  flat: Flat,
  readers: ReadonlyMap<number, readonly number[]>,
  record: number
): NodeDetails {
  const { columns, constants, nodes } = flat
  const node = nodes[record]
  const port = (value: number | undefined): Port | undefined => {
    if (value === undefined) return undefined
    const constant = constants.get(value)
    return {
      value,
      name: flat.values.names[value],
      maker: constant ? -1 : columns.maker[value],
      readers: (readers.get(value) ?? []).slice(0, MAX_READERS),
      ...(constant && { constant: { type: constant.type, dims: constant.dims, bytes: constant.byteLength } })
    }
  }
  const place = node ? model.locate(node.place) : {}
  return {
    record,
    name: nameOf(columns, record),
    type: columns.types[columns.type[record]],
    domain: node?.domain ?? '',
    version: node?.version ?? '',
    dialect: model.dialect,
    ...(node?.doc !== undefined && { doc: node.doc }),
    place: place.line === undefined ? (node ? `node ${node.index}` : '') : `line ${place.line}`,
    attributes: node
      ? [...node.attributes].map(([name, value]) => ({ name, kind: value.kind, text: attributeText(value) }))
      : [],
    inputs: portsOf(flat.inputs, record).map(port),
    outputs: portsOf(flat.outputs, record).map(port)
  }
}

/** Records whose node has an attribute with a text in its name or value: `axis=2`, `keepdims=0`. */
export function withAttribute({ nodes }: Flat, text: string): number[] {
  const found: number[] = []
  const wanted = text.toLowerCase()
  for (const [record, node] of nodes.entries()) {
    if (!node) continue
    for (const [name, value] of node.attributes)
      if (`${name}=${attributeText(value)}`.toLowerCase().includes(wanted)) {
        found.push(record)
        break
      }
    if (found.length >= MAX_FOUND) break
  }
  return found
}

const MAX_FOUND = 200
const MAX_LISTED = 24

const listed = (items: readonly unknown[]): string =>
  `[${items.slice(0, MAX_LISTED).join(', ')}${items.length > MAX_LISTED ? `, … ${items.length} in all` : ''}]`

function attributeText(attribute: Attribute): string {
  switch (attribute.kind) {
    case 'tensor':
      return `${attribute.value.type} [${attribute.value.dims.join(', ')}]`
    case 'graph':
      return `body of ${attribute.value.nodes.length} nodes`
    case 'graphs':
      return `${attribute.value.length} bodies`
    case 'floats':
    case 'ints':
    case 'strings':
      return listed(attribute.value)
    case 'tensors':
    case 'types':
      return `${attribute.value.length} ${attribute.kind}`
    case 'type':
      return attribute.value.kind
    case 'reference':
      return `that of the call: ${attribute.value}`
    default:
      return String(attribute.value).slice(0, 2000)
  }
}

/** Above as many bytes a constant is not read as a whole to be looked at. */
const MAX_BYTES = 512 << 20

/** A constant as numbers for a person: read when it is looked at. Of one that is too large, its first rows are read. */
export function constantDetails(constant: Constant, plane: number): TensorDetails & { readonly isPart: boolean } {
  if (constant.byteLength <= MAX_BYTES || !constant.raw || constant.dims.length < 2)
    return { ...tensorDetails(constant.read(), plane), isPart: false }
  return { type: constant.type, dims: constant.dims, first: [], isPart: true }
}

const FIRST = 32

export function tensorDetails(tensor: Tensor, plane: number): TensorDetails {
  const { type, dims, size } = tensor
  const numbers = numbersOf(tensor)
  if (!numbers) {
    const data = tensor.data as ArrayLike<unknown>
    return { type, dims, first: Array.from({ length: Math.min(size, FIRST) }, (_, i) => JSON.stringify(data[i]) ?? '') }
  }
  const statistics = statisticsOf(numbers)
  const isPicture = size > 1 && (dims.at(-1) ?? 0) > 1
  return {
    type,
    dims,
    statistics,
    histogram: histogramOf(numbers, statistics),
    ...(isPicture && { plane: planeOf(numbers, dims.length === 1 ? [1, ...dims] : dims, plane) }),
    // 64-bit integers have more digits than numbers.
    first: isExact(tensor.data)
      ? Array.from(tensor.data.subarray(0, FIRST), String)
      : Array.from(numbers.subarray(0, FIRST), number => shortNumber(number))
  }
}

const isExact = (data: unknown): data is BigInt64Array | BigUint64Array =>
  data instanceof BigInt64Array || data instanceof BigUint64Array

/** Six significant digits, as tables show them. */
const shortNumber = (number: number): string =>
  Number.isInteger(number) ? `${number}` : `${Number(number.toPrecision(6))}`
