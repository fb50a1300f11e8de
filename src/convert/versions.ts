import { onnxSchema, type OpSchema } from '../bind/schema.ts'
import { fail, NodewiseError } from '../errors.ts'
import type { Attribute } from '../graph/graph.ts'
import type { Made, NewAttributes } from '../op-kit/conversion.ts'
import type { AnyOpVersion, Op, Parameters } from '../op-kit/define.ts'
import type { AttributeSource, InputSource, Written } from '../op-kit/source-types.ts'
import type { Fact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { attributeOf } from './attributes.ts'
import { isSameParameter } from './equal.ts'
import type { NodeWriter } from './node-writer.ts'
import { checkedAgainst, typesOf, widened, type Widening } from './widen.ts'

/** A call that is to be said by an operator version of the other dialect. */
export interface Saying {
  readonly op: Op
  readonly operands: Readonly<Record<string, Made | readonly Made[] | undefined>>
  readonly outputCount: number
  /** Facts that the outputs must have, where they are known. */
  readonly results: readonly Fact[]
  /** A parameter's value, where it is known. */
  known(parameter: string): { readonly value: unknown } | undefined
  /** The value that gives a parameter while the model runs. */
  source(parameter: string): Made | undefined
  /** Whether a node with the parameter `to` may stand for this call. */
  allows(parameter: string, from: unknown, to: unknown): boolean
  /** Attributes of the source's node, which may be those of the new one. */
  readonly attributes?: ReadonlyMap<string, Attribute>
}

/** A call that a rule makes itself. */
export const callOf = (op: Op, operands: Saying['operands'], params: Parameters, outputCount: number): Saying => ({
  op,
  operands,
  outputCount,
  results: [],
  known: name => (isMade(params[name]) ? undefined : { value: params[name] }),
  source: name => (isMade(params[name]) ? params[name] : undefined),
  // What the rule does not name is as the version has it.
  allows: (name, from, to) => !Object.hasOwn(params, name) || isSameParameter(from, to)
})

const isMade = (value: unknown): value is Made => typeof value === 'object' && value !== null && 'fact' in value

/** An operator version that may say a call. */
interface Candidate {
  readonly version: AnyOpVersion
  readonly type: string
  readonly schema: OpSchema | undefined
  /**
   * IR: the newest opset in which the version holds. Later revisions of an operator that change no meaning take more:
   * Softmax-8 has negative axes, others have more types.
   */
  readonly until?: number
}

/**
 * Says a call by the newest operator version of the other dialect that takes it: each of its parameter sources is
 * inverted.
 * @throws NodewiseError `unsupported-op`, with the reason of the newest version
 */
export function sayByVersion(saying: Saying, w: NodeWriter): readonly Made[] {
  let first: NodewiseError | undefined
  for (const candidate of candidatesOf(saying.op, w)) {
    try {
      return sayBy(candidate, saying, w)
    } catch (error) {
      if (!(error instanceof NodewiseError)) throw error
      first ??= error
    }
  }
  throw (
    first ?? new NodewiseError('unsupported-op', `${w.dialect === 'onnx' ? 'ONNX' : 'OpenVINO'} has no such operator`)
  )
}

function candidatesOf(op: Op, { dialect, opset }: NodeWriter): Candidate[] {
  const groups = new Map<string, AnyOpVersion[]>()
  for (const version of op[dialect] ?? []) {
    const key = `${version.domain ?? ''}::${version.type ?? op.name}`
    groups.set(key, [...(groups.get(key) ?? []), version])
  }
  return [...groups.values()].flatMap((versions): Candidate[] => {
    // Operators of one runtime only are no way to say it for all.
    if (versions[0].domain === 'com.microsoft') return []
    const type = versions[0].type ?? op.name
    const newest = [...versions].sort((a, b) => b.since - a.since)
    if (dialect === 'openvino')
      return newest.flatMap((version, i) =>
        version.since > opset
          ? []
          : { version, type, schema: undefined, until: Math.min(opset, (i === 0 ? Infinity : newest[i - 1].since) - 1) }
      )
    const { domain } = versions[0]
    const schema = onnxSchema(domain ?? 'ai.onnx', type, domain === undefined ? opset : 1)
    const version = schema && newest.find(({ since }) => since <= schema.version)
    return version && schema && !schema.deprecated ? [{ version, type, schema }] : []
  })
}

function sayBy(candidate: Candidate, saying: Saying, w: NodeWriter): readonly Made[] {
  const { version, type, schema } = candidate
  const inputs = operandsAt(candidate, saying)
  const attributes: Record<string, Written> = {}
  let isGuessed = false
  for (const [name, source] of Object.entries(version.bind)) {
    if (source.kind === 'body') fail('unsupported-op', `no rule says how the body ${name} is connected`)
    if (source.kind === 'input') {
      inputs[source.index] ??= inputOf(name, source, candidate, saying, w)
      continue
    }
    const found = saying.known(name)
    if (found === undefined) fail('unsupported-op', notKnown(name, candidate, saying, w))
    const { value } = found
    if (source.kind === 'constant') {
      if (!saying.allows(name, value, source.value))
        fail('unsupported-op', `${type} does not do ${name} ${shown(value)}`)
    } else if (source.kind === 'derive') {
      const written = source.write?.(value)
      if (written === undefined) isGuessed = true
      else Object.assign(attributes, written)
    } else {
      const written = writtenFor(source, value, w, schema)
      if (written !== undefined) attributes[source.name] ??= written
      else if (value !== undefined) isGuessed = true
    }
  }
  const widening = widened(inputs, typesOf(version, schema, saying.op), w)
  const say = (all: NewAttributes): readonly Made[] => add(candidate, widening, all, saying, w)
  if (!isGuessed) return say(attributes)
  // Parameters that nothing inverts are often attributes of the same names in both dialects.
  try {
    return say(attributes)
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    return say({ ...sameNamed(saying.attributes, schema), ...attributes })
  }
}

/** Why a parameter that only a value of the model gives cannot be said: a newer version may have an input for it. */
function notKnown(name: string, { type, version }: Candidate, { op }: Saying, { dialect, opset }: NodeWriter): string {
  const since = (op[dialect] ?? [])
    .filter(other => (other.type ?? op.name) === type && other.domain === version.domain && other.since > opset)
    .filter(other => Object.hasOwn(other.bind, name) && other.bind[name].kind === 'input')
    .map(other => other.since)
  return since.length === 0
    ? `${name} is not known before the model runs`
    : `${name} is given while the model runs, which ${type} takes from opset ${Math.min(...since)} on`
}

const shown = (value: unknown): string =>
  value === undefined
    ? 'left out'
    : typeof value === 'object' || typeof value === 'function'
      ? '(as it is here)'
      : String(value)

/** The operands at their positions. */
function operandsAt({ version }: Candidate, { op, operands }: Saying): (Made | undefined)[] {
  const inputs: (Made | undefined)[] = []
  Object.keys(op.operands).forEach((name, position) => {
    const given = operands[name]
    if (given === undefined || (Array.isArray(given) && given.length === 0)) return
    const at = version.in ? version.in[name] : position
    if (at === undefined) fail('unsupported-op', `it has no input for ${name}`)
    if (Array.isArray(given)) given.forEach((one: Made, i) => (inputs[at + i] = one))
    else inputs[at] = given as Made
  })
  return Array.from(inputs)
}

/** What an attribute holds for a value. */
function writtenFor(
  source: AttributeSource<unknown>,
  value: unknown,
  { dialect }: NodeWriter,
  schema: OpSchema | undefined
): Written | undefined {
  const written = source.write?.(value)
  if (written !== undefined) return written
  return source.choices?.find(choice =>
    isSameParameter(source.read(attributeOf(dialect, source.name, choice, schema)), value)
  )
}

/** The input that gives a parameter: a constant where its value is known, else what gives it in the source. */
function inputOf(
  name: string,
  source: InputSource<unknown>,
  { version, schema }: Candidate,
  saying: Saying,
  w: NodeWriter
): Made | undefined {
  const found = saying.known(name)
  const given = saying.source(name)
  if (found && source.fallback && isSameParameter(found.value, source.fallback.value)) return undefined
  if (found && found.value === undefined) fail('unsupported-op', `${name} is left out`)
  const types = schema
    ? schema.inputs?.[source.index]?.types
    : version.types?.[name] && new Set<string>(version.types[name])
  const type = typeFor(source, given, types)
  if (found) {
    const value = found.value as number | readonly number[] | boolean | string
    if (typeof value === 'object') return w.constant(type, value)
    return source.isListed ? w.constant(type, [value]) : w.scalar(type, value)
  }
  if (given === undefined) return fail('unsupported-op', `${name} is not known before the model runs`)
  return inRank(w.cast(given, type), source, w)
}

const PREFERRED: Readonly<Record<InputSource<unknown>['form'], readonly DType[]>> = {
  int: ['int64', 'int32'],
  ints: ['int64', 'int32'],
  float: ['float32', 'float64'],
  floats: ['float32', 'float64'],
  flag: ['bool'],
  text: ['string']
}

function typeFor(
  { form }: InputSource<unknown>,
  given: Made | undefined,
  types: ReadonlySet<string> | undefined
): DType {
  const own = given?.fact.kind === 'tensor' ? given.fact.type : undefined
  const isOwn = own !== undefined && PREFERRED[form].includes(own)
  if (isOwn && (types === undefined || types.has(own))) return own
  return PREFERRED[form].find(type => types === undefined || types.has(type)) ?? PREFERRED[form][0]
}

/** Readers here take a scalar and a list of one for each other; runtimes do not always. */
function inRank(value: Made, { form, isListed }: InputSource<unknown>, w: NodeWriter): Made {
  const rank = form === 'ints' || form === 'floats' || isListed ? 1 : 0
  const shape = value.fact.kind === 'tensor' ? value.fact.shape : undefined
  if (shape === undefined || shape.length === rank) return value
  return w.reshape(value, rank === 0 ? [] : [-1])
}

function sameNamed(
  given: ReadonlyMap<string, Attribute> | undefined,
  schema: OpSchema | undefined
): Record<string, Written> {
  const result: Record<string, Written> = {}
  for (const [name, attribute] of given ?? []) {
    if (schema && !schema.attributes.has(name)) continue
    const { kind, value } = attribute
    if (kind === 'int' || kind === 'float' || kind === 'string' || kind === 'ints' || kind === 'floats')
      result[name] = value
    else if (kind === 'text') result[name] = fromText(value, schema?.attributes.get(name)?.kind)
  }
  return result
}

function fromText(text: string, kind: string | undefined): Written {
  const items = text.split(',').map(item => item.trim())
  if (kind === 'ints' || kind === 'floats') return items.filter(item => item !== '').map(Number)
  if (kind === 'int') return text === 'true' ? 1 : text === 'false' ? 0 : Number(text)
  return kind === 'float' ? Number(text) : text
}

function add(
  { version, type, until }: Candidate,
  { inputs, casts }: Widening,
  attributes: NewAttributes,
  saying: Saying,
  w: NodeWriter
): readonly Made[] {
  const { values, call } = w.add(type, inputs, attributes, {
    outputs: saying.outputCount,
    ...(w.dialect === 'openvino'
      ? { since: until ?? version.since }
      : version.domain !== undefined && { domain: version.domain })
  })
  if (call.opVersion !== version) fail('unsupported-op', `opset ${w.opset} has another version of ${type}`)
  for (const [name, value] of Object.entries(call.known)) {
    const wanted = saying.known(name)
    if (wanted === undefined || !saying.allows(name, wanted.value, value))
      fail('unsupported-op', `${type} does not do ${name} ${shown(wanted?.value)}`)
  }
  return checkedAgainst(values, saying.results, casts, w)
}
