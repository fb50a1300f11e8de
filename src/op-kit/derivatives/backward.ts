import { fail } from '../../errors.ts'
import type { Attribute, Node, ValueId } from '../../graph/graph.ts'
import { bodiesOf } from '../../graph/graph.ts'
import type { Writer } from './writer.ts'

/** A node that is differentiated. */
export interface Differentiated {
  readonly node: Node
  /** Version of the operator set. */
  readonly version: number
  /** Inputs and outputs by position; those that are left out are undefined. */
  readonly x: readonly ValueId[]
  readonly y: readonly ValueId[]
  /** Derivatives by the outputs; undefined where the outcome does not depend on one. */
  readonly dy: readonly (ValueId | undefined)[]
  /** The derivative by output 0, where a rule knows that there is one. */
  readonly d: ValueId
  /** Whether the derivative by an input is asked for. */
  wants(index: number): boolean
  attribute(name: string): Attribute | undefined
  int(name: string, fallback?: number): number
  ints(name: string): number[] | undefined
  float(name: string, fallback?: number): number
  text(name: string, fallback: string): string
}

/** The derivatives by the inputs; undefined where there is none. */
export type Rule = (w: Writer, call: Differentiated) => readonly (ValueId | undefined)[]

/** The same computation in nodes that have rules; returns the outputs. */
export type Rewrite = (w: Writer, call: Differentiated) => readonly (ValueId | undefined)[]

/** What is known of an operator's derivative. */
export type Derivative =
  /** The result is whole, or does not change: its derivative is zero wherever there is one. */
  | { readonly kind: 'none' }
  | { readonly kind: 'rule'; readonly rule: Rule }
  | { readonly kind: 'rewrite'; readonly rewrite: Rewrite }

/** What {@link backward} looks up. */
export interface Rules {
  derivativeOf(node: Node): Derivative | undefined
  attribute(node: Node, name: string): Attribute | undefined
}

/**
 * Reverse-mode differentiation: from the derivatives by some values, those by others.
 * @param nodes the nodes between them, producers first
 * @param seeds the derivatives by the values at which it starts
 * @param targets the values for which a derivative is asked
 * @returns the derivatives by targets; a target that has none is not among them
 * @throws NodewiseError `unsupported-op` for an operator without a rule, `unknown-attribute-value` for an attribute
 *   that is missing or of another kind
 */
export function backward(
  w: Writer,
  nodes: readonly Node[],
  seeds: ReadonlyMap<ValueId, ValueId>,
  targets: ReadonlySet<ValueId>,
  rules: Rules
): Map<ValueId, ValueId> {
  const active = activeOf(nodes, targets, rules)
  const parts = new Map<ValueId, ValueId[]>([...seeds].map(([id, seed]) => [id, [seed]]))
  const total = (id: ValueId | undefined): ValueId | undefined => {
    const list = id === undefined ? undefined : parts.get(id)
    if (id === undefined || list === undefined) return undefined
    const sum = list.length === 1 ? list[0] : w.call('Sum', list)
    parts.set(id, [sum])
    return sum
  }
  for (const node of nodes.toReversed()) {
    if (!node.outputs.some(id => id !== undefined && active.has(id))) continue
    const dy = node.outputs.map(total)
    if (dy.every(each => each === undefined)) continue
    const wants = (index: number): boolean => {
      const id = node.inputs[index]
      return id !== undefined && active.has(id)
    }
    derivativesOf(w, differentiated(node, dy, wants, rules), rules).forEach((part, i) => {
      const id = node.inputs[i]
      if (part === undefined || id === undefined || !active.has(id)) return
      const list = parts.get(id)
      if (list) list.push(part)
      else parts.set(id, [part])
    })
  }
  return new Map(
    [...targets].flatMap(id => {
      const sum = total(id)
      return sum === undefined ? [] : [[id, sum]]
    })
  )
}

/** The values that depend on the targets, these included. */
function activeOf(nodes: readonly Node[], targets: ReadonlySet<ValueId>, rules: Rules): Set<ValueId> {
  const active = new Set(targets)
  const isActive = (id: ValueId | undefined): boolean => id !== undefined && active.has(id)
  for (const node of nodes) {
    if (!node.inputs.some(isActive) && !node.captures.some(isActive)) continue
    if (rules.derivativeOf(node)?.kind === 'none') continue
    for (const id of node.outputs) if (id !== undefined && !targets.has(id)) active.add(id)
  }
  return active
}

function derivativesOf(w: Writer, call: Differentiated, rules: Rules): readonly (ValueId | undefined)[] {
  const { node } = call
  const derivative = rules.derivativeOf(node)
  if (derivative === undefined || bodiesOf(node).length > 0) return without(node)
  switch (derivative.kind) {
    case 'none':
      return []
    case 'rule':
      return derivative.rule(w, call)
    case 'rewrite': {
      const start = w.nodes.length
      const made = derivative.rewrite(w, call)
      const seeds = new Map<ValueId, ValueId>()
      call.dy.forEach((seed, i) => {
        if (seed === undefined) return
        const id = made[i]
        if (id === undefined) without(node, ` by its output ${i}`)
        else seeds.set(id, seed)
      })
      const targets = new Set(node.inputs.filter((_, i) => call.wants(i)).filter(id => id !== undefined))
      const found = backward(w, w.nodes.slice(start), seeds, targets, rules)
      // An input that is there twice has its whole derivative from the first.
      return node.inputs.map((id, i) => (id !== undefined && node.inputs.indexOf(id) === i ? found.get(id) : undefined))
    }
  }
}

/** @throws NodewiseError `unsupported-op` */
export function without({ domain, type, name, outputs }: Node, what = ''): never {
  const operator = domain === 'ai.onnx' ? type : `${domain}::${type}`
  const which = name === '' ? `, which makes "${outputs[0]}"` : ` "${name}"`
  return fail('unsupported-op', `there is no derivative of ${operator}${what}${which}`, { operator })
}

function differentiated(
  node: Node,
  dy: readonly (ValueId | undefined)[],
  wants: (index: number) => boolean,
  rules: Rules
): Differentiated {
  const attribute = (name: string): Attribute | undefined => rules.attribute(node, name)
  const read = <T>(name: string, kinds: readonly string[], fallback: T | undefined): T => {
    const found = attribute(name)
    if (found && kinds.includes(found.kind)) return found.value as T
    if (found === undefined && fallback !== undefined) return fallback
    return fail('unknown-attribute-value', `${node.type}: attribute "${name}" is missing or of another kind`)
  }
  return {
    node,
    version: Number(node.version),
    x: node.inputs as readonly ValueId[],
    y: node.outputs as readonly ValueId[],
    dy,
    get d() {
      return dy[0] ?? without(node, ' by another output than its first')
    },
    wants,
    attribute,
    int: (name, fallback) => Number(read<number | bigint>(name, ['int'], fallback)),
    ints: name => (attribute(name) ? read<readonly bigint[]>(name, ['ints'], undefined).map(Number) : undefined),
    float: (name, fallback) => read<number>(name, ['float'], fallback),
    text: (name, fallback) => read<string>(name, ['string'], fallback)
  }
}
