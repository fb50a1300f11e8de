import { fail } from '../errors.ts'
import type { Node } from '../graph/graph.ts'
import type { AttributeSource, BodySource, DeriveSource } from '../op-kit/sources.ts'
import type { Call, DataDependentParameter, Operand } from './call.ts'
import type { Binding, Registry } from './registry.ts'
import { isStandardDomain, isTooNew, newestOpset, onnxSchema, openvinoSchema, type OpSchema } from './schema.ts'

/** What all nodes of one operator version have in common: worked out once, however many there are. */
export interface CallTemplate {
  readonly domain: string
  /** The node's own version: that of the operator set. */
  readonly opset: string
  readonly binding: Binding
  readonly schema: OpSchema | undefined
  /** Version of the operator itself. */
  readonly version: number
  readonly operands: readonly Operand[]
  readonly dataDependent: readonly DataDependentParameter[]
  readonly inputTypes: Call['inputTypes']
  /** Parameters that are the same for every node. */
  readonly constants: Record<string, unknown>
  /** Where the other parameters come from. */
  readonly sources: readonly (readonly [
    name: string,
    source: AttributeSource<unknown> | DeriveSource<unknown> | BodySource
  ])[]
  readonly arity: Arity
}

/** How many inputs and outputs a node may have, and which inputs it must. */
export interface Arity {
  readonly minInputs: number
  readonly maxInputs: number
  readonly maxOutputs: number
  readonly needed: readonly number[]
  /** Where inputs start that must all be there. */
  readonly variadic?: number | undefined
}

/** Templates of a registry's operators that have been asked for. */
const templatesByType = new WeakMap<Registry, Map<string, CallTemplate[]>>()
/** A file may name any number of versions, so only some templates are kept. */
const MAX_TEMPLATES_OF_TYPE = 32

/**
 * The template of a node.
 * @throws NodewiseError `unsupported-op`
 */
export function templateOf(node: Node, registry: Registry): CallTemplate {
  let templates = templatesByType.get(registry)
  if (templates === undefined) templatesByType.set(registry, (templates = new Map()))
  const known = templates.get(node.type) ?? []
  for (const template of known) if (template.opset === node.version && template.domain === node.domain) return template
  const made = makeTemplate(node, registry)
  if (known.length === MAX_TEMPLATES_OF_TYPE) known.shift()
  known.push(made)
  templates.set(node.type, known)
  return made
}

function makeTemplate(node: Node, registry: Registry): CallTemplate {
  const { binding, schema, version } = findBinding(node, registry)
  const { op, opVersion } = binding
  const operands = operandsOf(op.operands, opVersion.in)
  const dataDependent: DataDependentParameter[] = []
  const constants: Record<string, unknown> = {}
  const sources: CallTemplate['sources'][number][] = []
  for (const [name, source] of Object.entries(opVersion.bind)) {
    switch (source.kind) {
      case 'constant':
        constants[name] = source.value
        break
      case 'input':
        dataDependent.push({ name, source })
        break
      default:
        sources.push([name, source])
    }
  }
  const inputTypes: Call['inputTypes'][number][] = []
  for (const [name, types] of Object.entries(opVersion.types ?? {})) {
    const index =
      operands.find(operand => operand.name === name)?.index ??
      dataDependent.find(parameter => parameter.name === name)?.source.index
    if (index !== undefined) inputTypes.push({ index, name, types })
  }
  const arity = arityOf(schema, operands, dataDependent, opVersion.requires ?? [])
  return {
    domain: node.domain,
    opset: node.version,
    binding,
    version,
    operands,
    dataDependent,
    inputTypes,
    constants,
    sources,
    arity,
    schema
  }
}

/** Versions of layers that no opset defines: their authors give them meaning. */
const CUSTOM_VERSION = /^(extension|experimental|custom|\w+_opset)$/

function findBinding(
  node: Node,
  registry: Registry
): { binding: Binding; schema: OpSchema | undefined; version: number } {
  if (node.dialect === 'openvino') {
    const found = openvinoSchema(node.type, node.version)
    if (!found && isTooNew(node.type, node.version))
      fail('unsupported-op', `${node.version} is newer than the opsets that are known`)
    const version = found?.schema.version ?? Number(/^opset(\d+)$/.exec(node.version)?.[1] ?? 0)
    const binding = registry.find('openvino', 'openvino', found?.name ?? node.type, version)
    if (!binding && found) fail('unsupported-op', `operator ${found.name}-${version} is not supported`)
    if (!binding)
      fail('unsupported-op', `${node.version || 'its version'} has no operator "${node.type}"`, {
        unknown: !CUSTOM_VERSION.test(node.version)
      })
    return { binding, version, schema: found?.schema }
  }
  const opset = Number(node.version || 0)
  if (node.domain === 'ai.onnx' && opset > newestOpset())
    fail('unsupported-op', `opset ${opset} is newer than ${newestOpset()}, the newest that is known`)
  const schema = onnxSchema(node.domain, node.type, opset)
  const version = schema?.version ?? opset
  const binding = registry.find('onnx', node.domain, node.type, version)
  if (!binding || (!schema && binding.opVersion.domain === undefined)) {
    if (schema) fail('unsupported-op', `operator ${node.domain}::${node.type}-${version} is not supported`)
    fail('unsupported-op', `${node.domain} ${opset} has no operator "${node.type}"`, {
      unknown: isStandardDomain(node.domain)
    })
  }
  return { binding, version, schema }
}

function operandsOf(
  kinds: Call['op']['operands'],
  positions: Readonly<Record<string, number | undefined>> | undefined
): Operand[] {
  return Object.entries(kinds).flatMap(([name, kind], i) => {
    const index = positions ? positions[name] : i
    return index === undefined ? [] : [{ name, kind, index }]
  })
}

/** ONNX says how many inputs a version takes; for IR the operands and data-dependent parameters do. */
function arityOf(
  schema: OpSchema | undefined,
  operands: readonly Operand[],
  dataDependent: readonly DataDependentParameter[],
  required: readonly string[]
): Arity {
  const needed = [
    ...operands
      .filter(({ name, kind }) => kind === 'tensor' || kind === 'any' || required.includes(name))
      .map(({ index }) => index),
    ...dataDependent.filter(({ source }) => !source.fallback).map(({ source }) => source.index)
  ]
  const variadic = operands.find(({ kind }) => kind.endsWith('variadic'))?.index
  const [minInputs, maxInputs, , maxOutputs] = schema?.arity ?? [
    Math.max(0, ...needed.map(index => index + 1)),
    variadic !== undefined
      ? Infinity
      : Math.max(0, ...operands.map(({ index }) => index + 1), ...dataDependent.map(({ source }) => source.index + 1)),
    0,
    Infinity
  ]
  return { minInputs, maxInputs, maxOutputs, needed, variadic }
}

/** @throws NodewiseError `wrong-input-count`, `wrong-output-count` */
export function checkArity(
  { inputs, outputs }: Node,
  { minInputs, maxInputs, maxOutputs, needed, variadic = Infinity }: Arity
): void {
  const given = inputs.length
  if (given < minInputs || given > maxInputs) {
    const expected =
      minInputs === maxInputs
        ? `${minInputs}`
        : maxInputs === Infinity
          ? `at least ${minInputs}`
          : `${minInputs} to ${maxInputs}`
    fail('wrong-input-count', `${given} inputs are given; ${expected} expected`)
  }
  if (outputs.length > maxOutputs)
    fail('wrong-output-count', `${outputs.length} outputs are listed; at most ${maxOutputs} expected`)
  const requireInput = (index: number): void => {
    if (inputs[index] === undefined) fail('wrong-input-count', `input ${index} is left out; it is required`)
  }
  needed.forEach(requireInput)
  for (let index = variadic; index < given; index++) requireInput(index)
}
