import type { Place } from '../errors.ts'
import type { DeclaredType, Finding, FindingCode, GraphValue, InputPort, ValueId } from '../graph/graph.ts'
import { trimBlanks, unsigned } from './numbers.ts'
import { badNumber, type GraphScope, type ModelScope, notePassedOver, quote, report, type TensorType } from './scope.ts'
import { parsePortDim, splitNames } from './shapes.ts'
import type { Column, Element } from './tree.ts'
import { typeFromPrecision } from './types.ts'

export type Side = 'input' | 'output'

/** A `<port>` of a layer. Places are computed on demand, since a large file has millions of dims. */
export class Port implements InputPort {
  readonly id: string
  /** The id as a number; undefined where it is none. */
  readonly key: number | undefined
  readonly declared: TensorType
  /** Names of the tensor, in the order of the file. */
  readonly names: readonly string[]
  private readonly layer: Place
  private readonly offset: number
  /** Byte offsets of the dims of all ports of the model. */
  private readonly dimOffsets: Column
  /** Index in `dimOffsets` of the first dim of this port. */
  private readonly firstDim: number

  constructor(
    id: string,
    declared: TensorType,
    names: readonly string[],
    layer: Place,
    offset: number,
    dimOffsets: Column,
    firstDim: number
  ) {
    this.id = id
    this.key = unsigned(id)
    this.declared = declared
    this.names = names
    this.layer = layer
    this.offset = offset
    this.dimOffsets = dimOffsets
    this.firstDim = firstDim
  }

  get place(): Place {
    return { ...this.layer, offset: this.offset, port: this.id }
  }

  /** The id as messages have it. */
  get label(): string {
    return this.key === undefined ? quote(this.id) : this.id
  }

  get dimPlaces(): readonly Place[] {
    return (this.declared.dims ?? []).map((_, i) => ({
      ...this.place,
      offset: this.dimOffsets.values[this.firstDim + i]
    }))
  }
}

/** The value at an output port. */
export class PortValue implements GraphValue {
  readonly id: ValueId
  readonly name: string
  readonly names: readonly string[]
  declared?: DeclaredType
  private readonly port: Port

  constructor(id: ValueId, name: string, names: readonly string[], port: Port) {
    this.id = id
    this.name = name
    this.names = names
    this.declared = port.declared
    this.port = port
  }

  get place(): Place {
    return this.port.place
  }

  get dimPlaces(): readonly Place[] {
    return this.port.dimPlaces
  }
}

/** The input ports or the output ports of a layer. Elsewhere ports are known by position; edges know them by id. */
export class PortList {
  readonly ports: readonly Port[]
  private positions?: Map<number | undefined, number>

  constructor(ports: readonly Port[]) {
    this.ports = ports
  }

  /** Position of the first port with this id, or -1. */
  find(key: number | undefined): number {
    const { ports } = this
    if (ports.length <= MAX_LINEAR) return ports.findIndex(port => port.key === key)
    if (this.positions === undefined) {
      this.positions = new Map()
      for (let i = ports.length - 1; i >= 0; i--) this.positions.set(ports[i].key, i)
    }
    return this.positions.get(key) ?? -1
  }
}

/** In lists of so few ports a linear search is faster than a map. */
const MAX_LINEAR = 8
const NONE: readonly never[] = []

/** What reading ports needs to know of their layer. */
export interface PortOwner {
  readonly place: Place
  readonly needed: Finding['onlyIfNeeded']
}

/** The ports of an `<input>` or `<output>` element; none where the element is missing. Faults become findings. */
export function readPorts(scope: GraphScope, owner: PortOwner, section: Element | undefined, side: Side): PortList {
  const { xml } = scope.model
  const elements = xml.children(section, 'port')
  const list = new PortList(elements.map(element => readPort(scope, owner, element, side)))
  list.ports.forEach((port, position) => {
    if (port.key === undefined) {
      reportPort(
        scope,
        owner,
        port,
        'bad-number',
        badNumber(`an ${side} port`, 'id', xml.attribute(elements[position], 'id'))
      )
    } else if (list.find(port.key) !== position) {
      reportPort(scope, owner, port, 'duplicate-port', `a second ${side} port with id ${port.id}`)
    }
  })
  return list
}

function readPort(scope: GraphScope, owner: PortOwner, element: Element, side: Side): Port {
  const { model } = scope
  const { xml, dimOffsets } = model
  notePassedOver(model, element, PORT_CONTENT)
  const dims = xml.children(element, 'dim')
  const firstDim = dimOffsets.length
  for (const dim of dims) dimOffsets.push(xml.offset(dim))
  const precision = xml.attribute(element, 'precision')
  const declared = declaredType(model, precision, dims)
  const names = side === 'output' ? splitNames(xml.attribute(element, 'names')) : NONE
  const id = trimBlanks(xml.attribute(element, 'id') ?? '')
  const port = new Port(id, declared, names, owner.place, xml.offset(element), dimOffsets, firstDim)
  if (declared.type === undefined) reportPrecision(scope, owner, port, side, precision)
  if (declared.dims?.includes(null) === true) reportDims(scope, owner, port, dims)
  return port
}

const PORT_CONTENT = new Set(['dim', 'rt_info'])

/**
 * The type that a port declares; ports with the same text share one object. A port without `<dim>` may be a scalar or
 * of unknown rank, so its shape is not declared.
 */
function declaredType(
  { xml, portTypes }: ModelScope,
  precision: string | undefined,
  dims: readonly Element[]
): TensorType {
  const texts = dims.map(dim => xml.text(dim))
  const key = `${precision}\0${texts.join('\0')}`
  const known = portTypes.get(key)
  if (known !== undefined) return known
  const type = precision === undefined ? undefined : typeFromPrecision(precision)
  const declared: TensorType = {
    kind: 'tensor',
    ...(type !== undefined && type !== 'dynamic' && { type }),
    ...(texts.length > 0 && { dims: texts.map(text => parsePortDim(text) ?? null) })
  }
  portTypes.set(key, declared)
  return declared
}

function reportPort(scope: GraphScope, owner: PortOwner, port: Port, code: FindingCode, message: string): void {
  report(scope, 'error', code, message, port.place, owner.needed)
}

/**
 * Reports a precision that is missing or unknown. OpenVINO reads it of output ports only; a bare layer often has none.
 */
function reportPrecision(
  scope: GraphScope,
  owner: PortOwner,
  port: Port,
  side: Side,
  precision: string | undefined
): void {
  if (precision === undefined) {
    if (side === 'input' || scope.model.irVersion === 0) return
    reportPort(scope, owner, port, 'missing-attribute', 'an output port without a precision')
  } else if (typeFromPrecision(precision) === undefined) {
    const message = `${quote(precision)} is no element type`
    if (side === 'output') reportPort(scope, owner, port, 'unknown-type', message)
    else
      report(
        scope,
        'warning',
        'unknown-type',
        `${message} (OpenVINO ignores the precision of an input port)`,
        port.place
      )
  }
}

function reportDims(scope: GraphScope, owner: PortOwner, port: Port, dims: readonly Element[]): void {
  const { xml } = scope.model
  for (const dim of dims) {
    const text = xml.text(dim)
    if (parsePortDim(text) !== undefined) continue
    const place = { ...port.place, offset: xml.offset(dim) }
    report(scope, 'error', 'bad-dim', `a dim is an integer from -1, not ${quote(text)}`, place, owner.needed)
  }
}
