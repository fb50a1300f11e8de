import { type BoundGraph, type Call, isUnbound, type Unbound } from '../bind/call.ts'
import type { Constant, Node, ValueId } from '../graph/graph.ts'
import { isDefault, type Propagation } from '../infer/propagate.ts'
import type { SelectKernel } from '../op-kit/define.ts'
import { type Dim, sameDim, toDim } from '../shapes/dim.ts'
import { type Fact, factOf, knownValue, tensorFact } from '../shapes/fact.ts'
import { isSym } from '../shapes/sym.ts'
import type { DType } from '../tensor/dtype.ts'
import { toDoubles } from '../tensor/elements.ts'
import { product, type Tensor } from '../tensor/tensor.ts'

/** A call of a plan graph. Passes replace it as a whole, except for what the last passes note on it. */
export interface PlanCall {
  /** Operator, parameters, inputs and outputs; of a fused call those of the operator that stands for all. */
  readonly call: Call
  /** The nodes of the file that it stands for, in the order in which they would run. */
  readonly nodes: readonly Node[]
  /** Name of the pattern that fused it. */
  readonly fused?: string
  /** Converts the rows that the call looks up in its table: see `fused-convert.ts`. */
  readonly convert?: Call
  /** Noted by `pack`: input positions of the constants that a kernel may pack. */
  constants: readonly number[]
  /** Noted by `schedule`: values that nobody reads after it. */
  free: readonly ValueId[]
  /** Noted by `schedule`: input positions whose storage output 0 may take over. */
  inPlace: readonly number[]
}

export type PlanItem = PlanCall | Unbound

export const isPlanCall = (item: PlanItem): item is PlanCall => 'call' in item

/** Nodes of the file that have no step, and why. */
export interface RemovedNode {
  readonly node: Node
  readonly why: 'folded' | 'pruned'
}

/** What a plan is made for. */
export interface PlanOptions {
  /** Somebody sees the values of every node (`onStep`, `walk`): none is fused away, and no memory is written twice. */
  readonly isObserved?: boolean
  /** No call is fused with others in a way that rounds otherwise. */
  readonly isExact?: boolean
  /** Inputs of the main graph with initializers that are given all the same; undefined: any may be. */
  readonly replaced?: readonly ValueId[] | undefined
  /** Picks accelerated kernels for what is computed of constants; without it operators run their own. */
  readonly select?: SelectKernel | undefined
}

/**
 * A graph between inference and running, which passes change: calls in topological order, facts, constants, and who
 * makes and reads each value.
 */
export class PlanGraph {
  readonly bound: BoundGraph
  readonly wanted: readonly ValueId[]
  readonly isObserved: boolean
  readonly select: SelectKernel | undefined
  /** Values known before any run: those of the file, and those that `fold` adds. */
  readonly constants: Map<ValueId, Constant | Tensor>
  /** Types of the file's own constants of 16-bit floats, by the names of those of float32 that are in their place. */
  readonly narrow = new Map<ValueId, DType>()
  readonly removed: RemovedNode[] = []
  /** What inference found of the bodies of calls. */
  readonly bodies: Map<BoundGraph, Propagation>
  /** Nodes whose call inference refused. */
  private readonly failed: ReadonlySet<Node>
  /** What inference knows; a copy once a pass adds values. */
  private known: ReadonlyMap<ValueId, Fact>
  private added: Map<ValueId, Fact> | undefined
  /** Values that are seen from outside: inputs, captured values, wanted ones. */
  private readonly outside: ReadonlySet<ValueId>
  /** Without those that are constants. */
  private readonly inputs: ReadonlySet<ValueId>
  private readonly outputs: ReadonlySet<ValueId>
  /** By position; undefined where an item has been removed. */
  private list: (PlanItem | undefined)[]
  /** {@link items} and {@link calls} until something changes: each pass goes over them, and few change anything. */
  private current: { readonly items: readonly PlanItem[]; readonly calls: readonly PlanCall[] } | undefined
  /** Names of the operators that calls have, or had. */
  private readonly ops = new Set<string>()
  private readonly positions = new Map<PlanItem, number>()
  private readonly makers = new Map<ValueId, PlanItem>()
  private readonly readers = new Map<ValueId, Set<PlanItem>>()

  constructor(
    { bound, facts, failures, bodies }: Propagation,
    wanted: readonly ValueId[],
    { isObserved = false, replaced, select }: PlanOptions = {}
  ) {
    this.bound = bound
    this.bodies = new Map(bodies)
    this.failed = new Set(failures.map(({ node }) => node))
    this.known = facts
    this.wanted = wanted
    this.isObserved = isObserved
    this.select = select
    this.constants = new Map(bound.constants)
    const inputs = bound.graph.inputs.map(({ value }) => value)
    this.inputs = new Set(inputs.filter(id => !isDefault(bound, id, replaced)))
    this.outputs = new Set(wanted)
    this.outside = new Set([...this.inputs, ...wanted, ...bound.captures])
    this.list = []
    this.setList(bound.items.map(item => (isUnbound(item) ? item : planCall(item))))
  }

  /** Whether an operator runs it: it is not the main graph. */
  get isBody(): boolean {
    return this.bound.graph.path !== ''
  }

  /** Calls, and nodes that have no operator, in topological order. */
  get items(): readonly PlanItem[] {
    return (this.current ??= this.listed()).items
  }

  get calls(): readonly PlanCall[] {
    return (this.current ??= this.listed()).calls
  }

  private listed(): NonNullable<PlanGraph['current']> {
    const items: PlanItem[] = []
    const calls: PlanCall[] = []
    for (const item of this.list) {
      if (item === undefined) continue
      items.push(item)
      if (isPlanCall(item)) calls.push(item)
    }
    return { items, calls }
  }

  /** Whether there may be a call of an operator: false where there has never been one. */
  mayHave(op: string): boolean {
    return this.ops.has(op)
  }

  /**
   * Whether inference refused a call. Its parameters may fit no shape, and its outputs have the shapes that the file
   * declares: passes that compute with these leave it to the run, which names its node.
   */
  hasFailed({ node }: Call): boolean {
    return this.failed.has(node)
  }

  get facts(): ReadonlyMap<ValueId, Fact> {
    return this.known
  }

  /** Says what is known of a value that a pass adds. */
  describe(id: ValueId, fact: Fact): void {
    this.added ??= new Map(this.known)
    this.known = this.added.set(id, fact)
  }

  /** Adds a constant; passes may look at the value of a tensor, which has few elements. */
  addConstant(id: ValueId, value: Constant | Tensor): ValueId {
    this.constants.set(id, value)
    this.describe(id, 'read' in value ? tensorFact(value.type, value.dims) : factOf(value))
    return id
  }

  /** What makes a value; undefined for constants, inputs and captured values. */
  makerOf(id: ValueId): PlanItem | undefined {
    return this.makers.get(id)
  }

  readersOf(id: ValueId): ReadonlySet<PlanItem> {
    return this.readers.get(id) ?? NOBODY
  }

  /** Whether a value is seen from outside: an input, captured, or wanted. No pass may take it away. */
  isOutside(id: ValueId): boolean {
    return this.outside.has(id)
  }

  /** Whether a value is an input and nothing else that is seen from outside. */
  isOnlyGiven(id: ValueId): boolean {
    return this.inputs.has(id) && !this.outputs.has(id)
  }

  isRead(id: ValueId): boolean {
    return this.outputs.has(id) || this.readersOf(id).size > 0
  }

  /** A value that is the same in every run. An input's default is none where a caller may replace it. */
  constantOf(id: ValueId): Constant | Tensor | undefined {
    return this.inputs.has(id) ? undefined : this.constants.get(id)
  }

  remove(item: PlanItem, why?: RemovedNode['why']): void {
    this.list[this.unindex(item)] = undefined
    this.current = undefined
    if (why) for (const node of nodesOf(item)) this.removed.push({ node, why })
  }

  /** Puts a call in the place of another. */
  replace(item: PlanCall, by: PlanCall): void {
    const at = this.unindex(item)
    this.list[at] = by
    this.current = undefined
    this.index(by, at)
  }

  /** Puts calls, in their order, in the places of others. */
  spread(by: ReadonlyMap<PlanItem, readonly PlanCall[]>): void {
    if (by.size === 0) return
    for (const item of by.keys()) this.unindex(item)
    this.setList(this.items.flatMap((item): readonly PlanItem[] => by.get(item) ?? [item]))
  }

  /**
   * Puts calls in the places of those for which there are some.
   * @returns whether there were any
   */
  spreadEach(callsFor: (item: PlanCall) => readonly PlanCall[] | undefined): boolean {
    const by = new Map<PlanCall, readonly PlanCall[]>()
    for (const item of this.calls) {
      const calls = callsFor(item)
      if (calls) by.set(item, calls)
    }
    this.spread(by)
    return by.size > 0
  }

  /** The same where there is one call for one. */
  replaceEach(callFor: (call: Call) => Call | undefined): boolean {
    return this.spreadEach(item => {
      const call = callFor(item.call)
      return call && [planCall(call)]
    })
  }

  private setList(items: PlanItem[]): void {
    this.list = items
    this.current = undefined
    this.positions.clear()
    for (let i = 0; i < items.length; i++) this.index(items[i], i)
  }

  private index(item: PlanItem, at: number): void {
    this.positions.set(item, at)
    if (isPlanCall(item)) this.ops.add(item.call.op.name)
    for (const id of outputsOf(item)) if (id !== undefined) this.makers.set(id, item)
    for (const id of readBy(item)) {
      if (id === undefined) continue
      const readers = this.readers.get(id)
      if (readers) readers.add(item)
      else this.readers.set(id, new Set([item]))
    }
  }

  private unindex(item: PlanItem): number {
    const at = this.positions.get(item)
    if (at === undefined) throw new Error('an item that is not in the graph is changed')
    this.positions.delete(item)
    for (const id of outputsOf(item)) if (id !== undefined) this.makers.delete(id)
    for (const id of readBy(item)) if (id !== undefined) this.readers.get(id)?.delete(item)
    return at
  }
}

const NOBODY: ReadonlySet<PlanItem> = new Set()
const NO_BODIES: Call['bodies'] = new Map()

/** A call that stands for its own node, nothing noted. */
export const planCall = (call: Call): PlanCall => ({ call, nodes: [call.node], constants: [], free: [], inPlace: [] })

export const nodesOf = (item: PlanItem): readonly Node[] => (isPlanCall(item) ? item.nodes : [item.node])

/** All nodes that calls stand for, in the order in which they would run. */
export const nodesOfAll = (calls: Iterable<PlanCall>): readonly Node[] =>
  [...new Set([...calls].flatMap(nodesOf))].sort((a, b) => a.index - b.index)

export const outputsOf = (item: PlanItem): readonly (ValueId | undefined)[] =>
  isPlanCall(item) ? item.call.outputs : item.node.outputs

/** Values that an item reads, those included that its bodies capture; undefined where an input is left out. */
export const readBy = (item: PlanItem): readonly (ValueId | undefined)[] => {
  const { node } = isPlanCall(item) ? item.call : item
  const reads = isPlanCall(item) ? item.call.inputs : node.inputs
  const bodies = isPlanCall(item) ? item.call.bodies : NO_BODIES
  // Most items have no bodies, and their inputs are the list: it is asked for with each change of a graph.
  if (bodies.size === 0 && node.captures.length === 0) return reads
  return [...reads, ...node.captures, ...[...bodies.values()].flatMap(body => body.captures)]
}

/** Input position of an operand; -1: there is none of this name. */
export const positionOf = ({ operands }: Pick<Call, 'operands'>, name: string | undefined): number =>
  operands.find(operand => operand.name === name)?.index ?? -1

/** What a call reads as an operand. */
export const operandOf = (call: Call, name: string | undefined): ValueId | undefined =>
  call.inputs[positionOf(call, name)]

/** The call that makes a value; undefined where none does, or a node without an operator. */
export function planCallMaking(graph: PlanGraph, id: ValueId | undefined): PlanCall | undefined {
  const maker = id === undefined ? undefined : graph.makerOf(id)
  return maker && isPlanCall(maker) ? maker : undefined
}

export const callMaking = (graph: PlanGraph, id: ValueId | undefined): Call | undefined =>
  planCallMaking(graph, id)?.call

/** The dims of a value, as far as they are known. */
export function shapeOf(graph: PlanGraph, id: ValueId | undefined): readonly Dim[] | undefined {
  const fact = id === undefined ? undefined : graph.facts.get(id)
  return fact?.kind === 'tensor' ? fact.shape : undefined
}

/** Whether a shape is known to be of these dims. */
export const areDims = (shape: readonly Dim[] | undefined, wanted: readonly Dim[]): boolean =>
  shape?.length === wanted.length && wanted.every((dim, i) => sameDim(dim, shape[i]))

/** The element type of a value, where it is known. */
export function typeOf(graph: PlanGraph, id: ValueId | undefined): DType | undefined {
  const fact = id === undefined ? undefined : graph.facts.get(id)
  return fact?.kind === 'tensor' ? fact.type : undefined
}

/** Whether the elements of a value are known to be bytes. */
export const isByteValue = (graph: PlanGraph, id: ValueId | undefined): boolean =>
  ['uint8', 'int8'].includes(typeOf(graph, id) ?? '')

export const isFloat32 = (graph: PlanGraph, id: ValueId | undefined): boolean => typeOf(graph, id) === 'float32'

/**
 * The elements of a constant that inference knows: a small one.
 * @param most elements of which it may be; those of a larger one are not read
 */
export function knownTensor(graph: PlanGraph, id: ValueId | undefined, most = Infinity): Tensor | undefined {
  const constant = id === undefined ? undefined : graph.constantOf(id)
  if (id === undefined || constant === undefined || product(constant.dims) > most) return undefined
  const fact = graph.facts.get(id)
  return fact?.kind === 'tensor' ? knownValue(fact) : undefined
}

/** The number that is the one element of a constant. */
export function scalarOf(graph: PlanGraph, id: ValueId | undefined): number | undefined {
  const value = knownTensor(graph, id, 1)
  return value?.data.length === 1 && value.type !== 'string' ? toDoubles(value)[0] : undefined
}

/** The one element of a value as a flag, where it is known. */
export function knownFlag(fact: Fact | undefined): boolean | undefined {
  const value = fact?.kind === 'tensor' ? knownValue(fact) : undefined
  return value?.data.length === 1 ? Boolean(value.data[0]) : undefined
}

/** The one element of a value, as far as it is known. */
export function elementOf(graph: PlanGraph, id: ValueId | undefined): Dim | undefined {
  const fact = id === undefined ? undefined : graph.facts.get(id)
  const value = fact?.kind === 'tensor' ? fact.value : undefined
  const element = value?.data.length === 1 ? value.data[0] : undefined
  return typeof element === 'bigint' || isSym(element) ? toDim(element) : undefined
}
