import type { Allowance } from '../bind/expand.ts'
import type { Registry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import type { Constant, Dialect, Node, ValueId } from '../graph/graph.ts'
import { constantFact } from '../infer/declared.ts'
import type { Conversions, Made } from '../op-kit/conversion.ts'
import type { Fact } from '../shapes/fact.ts'
import { storable } from './storable.ts'

/** Why a node of the source cannot be said. */
export interface Refusal {
  readonly node: Node
  readonly reason: string
  /** Where the node's graph is, as in `Place.graphPath`. */
  readonly graphPath: string
}

/** Where a value of a graph that is being made comes from. */
export type Origin =
  | { readonly kind: 'input' }
  | { readonly kind: 'constant'; readonly constant: Constant }
  | { readonly kind: 'node'; readonly node: NewNodeEntry }
  /** Of a node that cannot be said: it stands for the value, so that the nodes after it are looked at, too. */
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      readonly inputs: readonly MadeValue[]
      /** A constant of a type that the dialect lacks, which a rule may say in another one. */
      readonly constant?: Constant
    }

/** A node of a graph that is being made, in the order in which it was added. */
export interface NewNodeEntry {
  readonly node: Node
  readonly order: number
  readonly inputs: readonly (MadeValue | undefined)[]
  /** ONNX: values of graphs around that its bodies read. */
  readonly captured: readonly MadeValue[]
}

/** A value of a graph that is being made. */
export interface MadeValue extends Made {
  readonly id: ValueId
  readonly fact: Fact
  readonly scope: Scope
  readonly origin: Origin
  /** Names of the source; the first is printed. */
  names: readonly string[]
}

/** Rules get `Made` values, all of which this module has made as `MadeValue`. */
export const valueOf = (made: Made): MadeValue =>
  'origin' in made ? (made as MadeValue) : fail('internal', 'a rule made a value itself')

/** ONNX: a value that goes from one run to the next. */
export interface Carried {
  input?: MadeValue
  next?: MadeValue
}

/** What all graphs of a model that is being made share. */
export interface Making {
  readonly dialect: Dialect
  readonly registry: Registry
  readonly conversions: Conversions
  /** ONNX: the opset that the model imports. IR: the newest opset that layers may name. */
  readonly opset: number
  readonly file: string
  /** What binding may take, by the limits of the source. */
  readonly allowance: Allowance
  /** Facts of all values so far, those of bodies too. */
  readonly facts: Map<ValueId, Fact>
  readonly values: Map<ValueId, MadeValue>
  /** ONNX: versions of the domains that nodes use, besides `ai.onnx`. */
  readonly domains: Map<string, number>
  /** ONNX: values that go from one run to the next, by name. */
  readonly carried: Map<string, Carried>
  /** Numbers given so far: to values and to nodes. */
  count: number
}

/** A graph that is being made: its nodes in order, its inputs, and what it takes from the graph around it. */
export class Scope {
  readonly making: Making
  readonly parent: Scope | undefined
  readonly path: string
  readonly nodes: NewNodeEntry[] = []
  readonly inputs: MadeValue[] = []
  /** IR: values of the graph around that became Parameters, in the order of the Parameters. */
  readonly imports = new Map<MadeValue, MadeValue>()
  /** IR: nodes that are kept though nobody reads them (Assign). */
  readonly sinks: MadeValue[] = []
  /** ONNX: graph inputs that need not be given, with what they are then. */
  readonly defaults = new Map<MadeValue, Constant>()
  private readonly constants = new Map<Constant, MadeValue>()
  private readonly small = new Map<string, MadeValue>()

  constructor(making: Making, parent?: Scope, path = '') {
    this.making = making
    this.parent = parent
    this.path = path
  }

  newId(): ValueId {
    return `#${this.making.count++}`
  }

  /** A new value. */
  value(fact: Fact, origin: Origin, id = this.newId()): MadeValue {
    const value: MadeValue = { id, fact, scope: this, origin, names: [] }
    this.making.facts.set(id, fact)
    this.making.values.set(id, value)
    return value
  }

  /** The graph of the model. */
  get root(): Scope {
    return this.parent?.root ?? this
  }

  /** Bodies around this graph. */
  get depth(): number {
    return this.parent === undefined ? 0 : this.parent.depth + 1
  }

  input(fact: Fact, names: readonly string[] = []): MadeValue {
    const value = this.value(fact, { kind: 'input' })
    value.names = names
    this.inputs.push(value)
    return value
  }

  /** A constant; the same one is one value, and so are equal ones with the same key. */
  constant(constant: Constant, fact: Fact = constantFact(constant), key?: string): MadeValue {
    const known = key === undefined ? this.constants.get(constant) : this.small.get(key)
    if (known) return known
    const stored = storable(constant, this.making.dialect)
    const value = this.value(stored === constant ? fact : constantFact(stored), { kind: 'constant', constant: stored })
    if (key === undefined) this.constants.set(constant, value)
    else this.small.set(key, value)
    return value
  }

  /**
   * A value as nodes of this graph may read it. Bodies of ONNX read values of graphs around them; bodies of IR have a
   * Parameter for each, and constants of their own.
   */
  reach(value: MadeValue): MadeValue {
    if (value.scope === this || this.making.dialect === 'onnx') return value
    if (value.origin.kind === 'constant') {
      const own = this.constant(value.origin.constant, value.fact)
      if (own.names.length === 0) own.names = value.names
      return own
    }
    if (this.parent === undefined) return fail('internal', 'a value of a body is read outside it')
    const outer = this.parent.reach(value)
    const known = this.imports.get(outer)
    if (known) return known
    const inner = this.input(outer.fact, outer.names)
    this.imports.set(outer, inner)
    return inner
  }
}

/** Nodes that outputs need, in the order in which they were added, and what of them cannot be said. */
export function neededBy(
  outputs: readonly MadeValue[],
  scope: Scope
): { nodes: NewNodeEntry[]; values: Set<MadeValue>; refusals: Set<Refusal> } {
  const nodes = new Set<NewNodeEntry>()
  const values = new Set<MadeValue>()
  const refusals = new Set<Refusal>()
  const open = [...outputs]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (values.has(value)) continue
    values.add(value)
    const { origin } = value
    if (origin.kind === 'refused') {
      refusals.add(origin.refusal)
      open.push(...origin.inputs)
    }
    // Nodes of graphs around belong to them: their values are asked for as captured ones.
    if (origin.kind !== 'node' || value.scope !== scope || nodes.has(origin.node)) continue
    nodes.add(origin.node)
    for (const input of origin.node.inputs) if (input) open.push(input)
    open.push(...origin.node.captured)
  }
  return { nodes: [...nodes].sort((a, b) => a.order - b.order), values, refusals }
}
