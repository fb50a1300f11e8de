import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { Numbers, textOf } from '../infer/likes.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { type Fact, isPartial } from '../shapes/fact.ts'
import { hasFresh, isSym } from '../shapes/sym.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import { isPlanCall, knownTensor, type PlanCall, planCallMaking, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * What two calls give alike is computed once: results of small integers that inference has the same expressions for,
 * such as the number of keys, which each layer of a decoder reads off its own cache, and results of the same operator
 * for the same operands, such as the mask that each layer makes of that number.
 */
export const share: Pass = {
  name: 'share',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    const seen = new Seen(graph)
    let changed = false
    for (const { call } of graph.calls) {
      // A call that reads what an earlier one gave has been replaced.
      const item = planCallMaking(graph, call.outputs[0])
      if (item === undefined || !mayBeShared(graph, item)) continue
      const earlier = seen.earlierThan(item.call, other => takeOver(graph, item, other))
      changed ||= earlier !== undefined
    }
    return changed
  }
}

/** Whether a call gives the same whenever its operands are the same, and its operator and parameters say what. */
function mayBeShared(graph: PlanGraph, { call, fused, convert }: PlanCall): boolean {
  return (
    fused === undefined &&
    convert === undefined &&
    call.op.impure === undefined &&
    call.bodies.size === 0 &&
    isBuiltIn(call.op) &&
    call.outputs.every(id => id === undefined || !graph.constants.has(id))
  )
}

/** Calls of one operator that read the same value first: the first call, and whose results are read instead of its. */
interface Alike {
  readonly first: Call
  readonly kept: Call
  /** By all that a call is; not before there is a second, as most read values of their own. */
  byText: Map<string, Call> | undefined
}

/** Larger constants are the same only where they are one: to compare them they would have to be read. */
const MAX_ELEMENTS = 8

/** What an operand is the same by: its elements, or its id. */
type OperandName = ValueId | readonly [type: string, dims: readonly number[], elements: readonly string[]]

/** The calls before, by what those that give the same have alike. */
class Seen {
  private readonly graph: PlanGraph
  private readonly numbers = new Numbers()
  /** By the first operand that is no constant. */
  private readonly byOperand = new Map<ValueId | undefined, Alike[]>()
  /** Small constants by their elements: a file has the same number again for each layer. */
  private readonly constants = new Map<ValueId, OperandName>()
  /** By what they give. */
  private readonly byValue = new Map<string, Call>()

  constructor(graph: PlanGraph) {
    this.graph = graph
  }

  /**
   * A call before that gives the same and is accepted. Later calls find this one too, or what it gave way to: what is
   * the same as a call that is gone is the same as the one before it.
   */
  earlierThan(call: Call, accepts: (other: Call) => boolean): Call | undefined {
    const readers = this.readersWith(call)
    const alike = readers.find(({ first }) => first.op === call.op)
    const value = this.valueOf(call)
    const places: (readonly [calls: Map<string, Call>, name: string])[] = []
    if (alike !== undefined) places.push([this.byTextOf(alike), this.textOf(call)])
    if (value !== undefined) places.push([this.byValue, value])
    const earlier = places.map(([calls, name]) => calls.get(name)).find(other => other && accepts(other))
    const kept = earlier ?? call
    if (alike === undefined) readers.push({ first: call, kept, byText: undefined })
    for (const [calls, name] of places) if (!calls.has(name)) calls.set(name, kept)
    return earlier
  }

  /** Those that read first what a call reads first, of each operator. */
  private readersWith({ inputs }: Call): Alike[] {
    const first = inputs.find(id => id !== undefined && this.graph.constantOf(id) === undefined)
    const known = this.byOperand.get(first)
    if (known) return known
    const readers: Alike[] = []
    this.byOperand.set(first, readers)
    return readers
  }

  private nameOf(id: ValueId | undefined): OperandName | undefined {
    const constant = id === undefined ? undefined : this.graph.constantOf(id)
    if (id === undefined || constant === undefined || product(constant.dims) > MAX_ELEMENTS) return id
    const known = this.constants.get(id) ?? elementsOf(knownTensor(this.graph, id)) ?? id
    this.constants.set(id, known)
    return known
  }

  private byTextOf(alike: Alike): Map<string, Call> {
    return (alike.byText ??= new Map([[this.textOf(alike.first), alike.kept]]))
  }

  private textOf({ opVersion, version, inputs, outputs, known }: Call): string {
    const { numbers } = this
    const operands = inputs.map(id => this.nameOf(id))
    return JSON.stringify([
      ...[numbers.of(opVersion), version, operands],
      ...[outputs.map(id => id !== undefined), textOf(known, numbers)]
    ])
  }

  /** What a call gives as an expression, where inference knows it. */
  private valueOf({ outputs }: Call): string | undefined {
    const { isBody, facts } = this.graph
    // Within a body, symbols may stand for what differs from one value to the next.
    const isFollowed = !isBody && outputs.length === 1 && outputs[0] !== undefined
    return isFollowed ? expressionsOf(facts.get(outputs[0]!)) : undefined
  }
}

/** All that a tensor is; undefined where it is not known. */
const elementsOf = (tensor: Tensor | undefined): OperandName | undefined =>
  tensor && [tensor.type, tensor.dims, Array.from(tensor.data as ArrayLike<unknown>, printed)]

const printed = (element: unknown): string => (Object.is(element, -0) ? '-0' : String(element))

/** The elements of an integer tensor as expressions over the names of dims of inputs; undefined: not all are known. */
function expressionsOf(fact: Fact | undefined): string | undefined {
  const value = fact?.kind === 'tensor' ? fact.value : undefined
  if (value === undefined || !isPartial(value)) return undefined
  if (value.data.some(element => isSym(element) && hasFresh(element))) return undefined
  const elements = value.data.map(element => (isSym(element) ? element.key : `${typeof element} ${String(element)}`))
  return JSON.stringify([value.type, value.dims, elements])
}

/** Lets whoever reads what a call gives read what an earlier one gives; false where somebody outside sees it. */
function takeOver(graph: PlanGraph, item: PlanCall, { outputs: given }: Call): boolean {
  const own = item.call.outputs
  const readers = new Set(own.flatMap(id => (id === undefined ? [] : [...graph.readersOf(id)])))
  const isSeen = own.some(id => id !== undefined && graph.isOutside(id))
  if (isSeen || ![...readers].every(reader => isPlanCall(reader) && readsPlainly(reader, own))) return false
  for (const reader of readers as Set<PlanCall>) {
    const inputs = reader.call.inputs.map(id => (id !== undefined && own.includes(id) ? given[own.indexOf(id)] : id))
    graph.replace(reader, { ...reader, call: altered(reader.call, { inputs }) })
  }
  graph.remove(item, 'pruned')
  return true
}

/** Whether a call reads values as inputs only, and no body of it does. */
const readsPlainly = ({ call }: PlanCall, ids: readonly (ValueId | undefined)[]): boolean =>
  call.bodies.size === 0 && call.node.captures.every(id => !ids.includes(id))
