import {
  type DeclaredDim,
  type DeclaredType,
  type Graph,
  type Model,
  propagate,
  type Propagation,
  shapes
} from 'nodewise'
import { type Kind, type Known, type RuleCall, type RuleName, RULES, rulesOf } from './rules.ts'

type Call = Extract<Propagation['bound']['items'][number], { readonly op: unknown }>
type Fact = Propagation['facts'] extends ReadonlyMap<string, infer F> ? F : never
type Dim = shapes.Dim
type Symbolic = Exclude<Dim, number>
type Value = NonNullable<Extract<Fact, { readonly kind: 'tensor' }>['value']>

/**
 * Why requests of a model may not be joined along their first dim; undefined where it is proven that each row of the
 * outputs depends on the same row of the inputs alone. All inputs get one symbol as their first dim, which is followed
 * through every node: an operator keeps rows apart where a rule of it says so, and the inferred shape has the symbol
 * first. What has no rule counts as one that mixes rows.
 */
export function whyNotBatched(model: Model, found: Propagation): string | undefined {
  const batch = shapes.unknownDim(1) as Symbolic
  const facts = new Map<string, Fact>()
  const known = new Map<string, Known>()
  const { graph } = model
  if (graph.inputs.length === 0) return 'it has no inputs'
  for (const [id, { dims }] of found.bound.constants) known.set(id, { kind: 'fixed', shape: dims })
  for (const { name, value, declared = graph.values.get(value)?.declared } of graph.inputs) {
    if (known.has(value)) continue
    const shape = shapeWith(batch, declared, firstNames(graph))
    if (typeof shape === 'string') return `input "${name}" ${shape}`
    const type = declared?.kind === 'tensor' ? declared.type : undefined
    facts.set(value, shapes.tensorFact(type, shape))
    known.set(value, { kind: 'rows', shape })
  }
  const again = propagate(model, { inputs: facts })
  if (again.failures.length > 0) return 'its shapes cannot be worked out'
  const proof = { batch, again, known }
  for (const item of again.bound.items) {
    if (!('op' in item)) return `node ${nameOf(item.node)} is not supported`
    const why = follow(proof, item)
    if (why !== undefined) return why
  }
  const mixed = graph.outputs.find(({ value }) => known.get(value)?.kind !== 'rows')
  return mixed && `output "${mixed.name}" has no row for each row of the inputs`
}

/** Names that inputs give to their first dim. */
const firstNames = ({ inputs, values }: Graph): ReadonlySet<unknown> =>
  new Set(
    inputs.flatMap(({ value, declared = values.get(value)?.declared }) =>
      declared?.kind === 'tensor' && declared.dims?.[0] !== null ? [declared.dims?.[0]] : []
    )
  )

/** The dims of an input with the batch in the place of the first; else why there are none. */
function shapeWith(batch: Dim, declared: DeclaredType | undefined, names: ReadonlySet<unknown>): Dim[] | string {
  if (declared?.kind !== 'tensor' || declared.dims === undefined) return 'has no declared dims'
  const [first, ...rest] = declared.dims
  if (first === undefined) return 'is a scalar'
  if (typeof first === 'number') return `has a fixed first dim of ${first}`
  if (rest.some(dim => typeof dim === 'string' && names.has(dim))) return 'has the batch as another dim, too'
  return [batch, ...rest.map((dim: DeclaredDim) => (typeof dim === 'number' ? dim : shapes.unknownDim()))]
}

interface Proof {
  readonly batch: Symbolic
  readonly again: Propagation
  readonly known: Map<string, Known>
}

/** Notes what the outputs of a call are; or says why nothing is proven. */
function follow({ batch, again, known }: Proof, call: Call): string | undefined {
  const mixes = `node ${nameOf(call.node)} may mix rows`
  if (call.bodies.size > 0 || call.op.impure !== undefined) return mixes
  const inputs = call.inputs.map(id => (id === undefined ? undefined : known.get(id)))
  if (call.inputs.some((id, i) => id !== undefined && inputs[i] === undefined)) return mixes
  const kinds = new Set(inputs.map(input => input?.kind))
  for (const [position, id] of call.outputs.entries()) {
    if (id === undefined) continue
    const fact = again.facts.get(id)
    const shape = fact?.kind === 'tensor' ? fact.shape : undefined
    const isKnown = fact?.kind === 'tensor' && saysNothingOf(batch, fact.value)
    const note = (kind: Kind): unknown => known.set(id, { kind, shape })
    const hasRows = shape !== undefined && startsWith(shape, batch)
    const rules = rulesOf(call.op)
    if (isKnown || (!kinds.has('rows') && !kinds.has('size'))) note('fixed')
    else if (rules.includes('shape')) note('size')
    else if (!kinds.has('rows')) note(hasRows && rules.includes('fill') ? fillKind(inputs) : 'size')
    else if (hasRows && keepsRows(rules, { call, inputs, output: shape, position, again })) note('rows')
    else return mixes
  }
  return undefined
}

/** Copies of one row, or of one element, where what is repeated says nothing of how often. */
const fillKind = ([first, ...rest]: readonly (Known | undefined)[]): Kind =>
  rest.length === 0 || first?.kind === 'fixed' ? 'rows' : 'size'

/** Whether all elements are known, and none has to do with the batch: other dims are those of each request. */
const saysNothingOf = (batch: Symbolic, value: Value | undefined): boolean =>
  value !== undefined &&
  (ArrayBuffer.isView(value.data) ||
    (value.data as readonly unknown[]).every(element => !isSymbolic(element) || !mentions(element, batch)))

const isSymbolic = (element: unknown): element is Symbolic => typeof element === 'object'

/** A key holds those of its parts: `?12` is in `2*?12`, and not in `?123`. */
const mentions = (dim: Symbolic, batch: Symbolic): boolean =>
  new RegExp(`${batch.key.replace('?', String.raw`\?`)}(?!\\d)`).test(dim.key)

/** Whether the batch is the first dim, and no other has to do with it. */
const startsWith = ([first, ...rest]: readonly Dim[], batch: Symbolic): boolean =>
  first !== undefined &&
  shapes.subDims(first, batch) === 0 &&
  rest.every(dim => typeof dim === 'number' || !mentions(dim, batch))

interface Step extends Pick<RuleCall, 'inputs' | 'output' | 'position'> {
  readonly call: Call
  readonly again: Propagation
}

function keepsRows(rules: readonly RuleName[], { call, inputs, output, position, again }: Step): boolean {
  const parameter = (name: string): unknown => {
    if (name in call.known) return call.known[name]
    const source = call.dataDependent.find(one => one.name === name)?.source
    if (source === undefined) return undefined
    const id = call.inputs[source.index]
    if (id === undefined) return source.fallback?.value
    const fact = again.facts.get(id)
    const value = fact?.kind === 'tensor' ? fact.value : undefined
    if (value === undefined || (Array.isArray(value.data) && value.data.some(isSymbolic))) return 'unknown'
    const numbers = Array.from(value.data as ArrayLike<number | bigint>, Number)
    return source.form === 'ints' || source.form === 'floats' ? numbers : numbers[0]
  }
  return rules.some(rule => RULES[rule]({ inputs, output, position, parameter }))
}

const nameOf = ({ name, type, index }: Call['node']): string =>
  name === '' ? `${index} (${type})` : `"${name}" (${type})`
