import { fail } from '../errors.ts'
import { declaredOf, type DeclaredType, type GraphPort, type Model, type ValueId } from '../graph/graph.ts'
import type { Plan } from '../plan/plan.ts'
import { didYouMean } from '../suggest.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Element } from '../tensor/elements.ts'
import { type Key, withTypes } from '../tensor/map.ts'
import { type Optional, type Sequence, Tensor, type Value } from '../tensor/tensor.ts'
import { acceptInput, type NamedSizes } from './graph-ports.ts'

/**
 * A tensor, or anything of its form such as a tensor of `onnxruntime-common`; for a map also a Map of JavaScript, whose
 * int64 keys may be numbers.
 */
export type Feed =
  | Value
  | { readonly type: DType; readonly dims: readonly number[]; readonly data: ArrayLike<unknown> }
  | ReadonlyMap<Key | number, Element>
/** Values for the inputs of a run, by name. */
export type Feeds = Readonly<Record<string, Feed>>

const isMap = (feed: Feed): feed is ReadonlyMap<Key | number, Element> => feed instanceof Map

/**
 * @param declared gives a Map of JavaScript its types
 * @throws NodewiseError `type-mismatch` where it is no value
 */
export function valueFrom(feed: Feed, declared?: DeclaredType): Value {
  if (feed instanceof Tensor) return feed
  if (isMap(feed)) return withTypes(feed, declared?.kind === 'map' ? declared : {})
  if (feed.type === 'sequence') return sequenceFrom(feed, declared)
  if (feed.type === 'optional') return optionalFrom(feed, declared)
  if (feed.type === 'map') {
    if (!((feed.entries as unknown) instanceof Map)) fail('type-mismatch', 'the `entries` of a map are a Map')
    return feed
  }
  const { type, data, dims } = feed as { type: DType; data: never; dims: readonly number[] }
  return new Tensor(type, data, dims)
}

const elementOf = (declared: DeclaredType | undefined): DeclaredType | undefined =>
  declared !== undefined && 'element' in declared ? declared.element : undefined

/** What a sequence holds may be of the same forms as a feed. */
function sequenceFrom(feed: Sequence, declared: DeclaredType | undefined): Sequence {
  const given: unknown = feed.values
  if (!Array.isArray(given)) fail('type-mismatch', 'the `values` of a sequence are a list')
  const values = given.map((item: Feed | null | undefined, i) => {
    if (item === null || item === undefined) fail('type-mismatch', `element ${i} of a sequence is ${item}`)
    return valueFrom(item, elementOf(declared))
  })
  return values.every((value, i) => value === feed.values[i]) ? feed : { type: 'sequence', values }
}

function optionalFrom(feed: Optional, declared: DeclaredType | undefined): Optional {
  const given: Feed | null | undefined = feed.value
  const value = given === null || given === undefined ? undefined : valueFrom(given, elementOf(declared))
  return value === given ? feed : { type: 'optional', value }
}

/** Positions of ports by every name that they have; a port's own name wins over what others are called as well. */
export function positionsOf(ports: readonly GraphPort[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  const name = (at: number, by: string): void => {
    if (!positions.has(by)) positions.set(by, at)
  }
  ports.forEach((port, i) => name(i, port.name))
  ports.forEach((port, i) => port.aliases.forEach(alias => name(i, alias)))
  return positions
}

/**
 * The caller's values by position of the input, as the model wants them.
 * @param positions where the inputs are, by name
 * @param absent inputs whose names of dims say nothing of this run
 * @throws NodewiseError `unexpected-input`, `missing-input`, and where a value is not what the model declares
 */
export function acceptFeeds(
  model: Model,
  positions: ReadonlyMap<string, number>,
  plan: Plan,
  feeds: Feeds,
  absent: readonly ValueId[] = []
): (Value | undefined)[] {
  const { inputs } = model.graph
  const given = new Array<Value | undefined>(inputs.length).fill(undefined)
  const sizes: NamedSizes = new Map()
  for (const name of Object.keys(feeds)) {
    const at = positions.get(name)
    if (at === undefined)
      fail(
        'unexpected-input',
        `the model has no input "${name}"; it has ${inputs.map(input => `"${input.name}"`).join(', ') || 'none'}` +
          didYouMean(name, positions.keys())
      )
    if (given[at] !== undefined) fail('unexpected-input', `input "${inputs[at].name}" is given twice`)
    const feed: Feed | null | undefined = feeds[name]
    if (feed === null || feed === undefined)
      fail('missing-input', `input "${name}" is given as ${feed}`, { input: name })
    const names = absent.includes(inputs[at].value) ? new Map() : sizes
    given[at] = acceptInput(model, inputs[at], valueFrom(feed, declaredOf(model.graph, inputs[at])), names)
  }
  for (const at of plan.needed)
    if (given[at] === undefined)
      fail('missing-input', `input "${inputs[at].name}" is not given`, { input: inputs[at].name })
  return given
}
