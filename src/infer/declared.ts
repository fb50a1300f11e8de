import { fail, NodewiseError } from '../errors.ts'
import {
  type Constant,
  type DeclaredDim,
  declaredOf,
  type DeclaredType,
  type Model,
  type ValueId
} from '../graph/graph.ts'
import { type Dim, namedDim, unknownDim } from '../shapes/dim.ts'
import { type Fact, mapFact, type TensorFact, tensorFact, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'

/**
 * What a declaration says, as a fact. A dim's name is a symbol only for graph inputs (`names: true`); elsewhere it is a
 * label that may be wrong and says nothing.
 */
export function declaredFact(declared: DeclaredType | undefined, names: boolean): Fact {
  if (declared === undefined || declared.kind === 'other') return UNKNOWN_TENSOR
  if (declared.kind === 'map') return mapFact(declared.keyType, declared.valueType)
  if (declared.kind !== 'tensor') return { kind: declared.kind, element: declaredFact(declared.element, names) }
  return tensorFact(
    declared.type,
    declared.dims?.map(dim => declaredDim(dim, names))
  )
}

function declaredDim(dim: DeclaredDim, names: boolean): Dim {
  if (typeof dim === 'number') return dim
  if (dim === null) return unknownDim()
  if (typeof dim === 'string') return names ? namedDim(dim) : unknownDim()
  return unknownDim(dim.min, dim.max)
}

/** Dims of inputs, by name. */
export type InputShapes = ReadonlyMap<string, readonly DeclaredDim[]> | Readonly<Record<string, readonly DeclaredDim[]>>

/**
 * Facts of graph inputs whose dims the caller gives, by name, in place of those that are declared.
 * @throws NodewiseError `unexpected-input`; `bad-usage` for what no dims by name are
 */
export function inputFacts(model: Model, shapes: InputShapes = {}): Map<ValueId, Fact> {
  if (typeof shapes !== 'object' || (shapes as unknown) === null)
    fail('bad-usage', '`inputShapes` are lists of dims by the names of inputs')
  const facts = new Map<ValueId, Fact>()
  for (const [name, dims] of shapes instanceof Map ? shapes : Object.entries(shapes)) {
    const port =
      model.graph.inputs.find(input => input.name === name) ??
      model.graph.inputs.find(input => input.aliases.includes(name))
    if (!port) {
      const names = model.graph.inputs.map(input => `"${input.name}"`).join(', ')
      fail('unexpected-input', `the model has no input "${name}"; it has ${names || 'none'}`)
    }
    if (!Array.isArray(dims)) fail('bad-usage', `the dims of "${name}" in \`inputShapes\` are a list`)
    const strange: unknown = dims.find(dim => !isDeclaredDim(dim))
    if (strange !== undefined || dims.includes(undefined))
      fail(
        'bad-usage',
        `a dim of "${name}" in \`inputShapes\` is ${shown(strange)}; expected a size, a name, { min, max } or null`
      )
    const declared = declaredOf(model.graph, port)
    const type = declared?.kind === 'tensor' ? declared.type : undefined
    facts.set(port.value, declaredFact({ kind: 'tensor', dims, ...(type && { type }) }, true))
  }
  return facts
}

const isSize = (size: unknown): boolean => Number.isSafeInteger(size) && (size as number) >= 0

/** Whether a dim from JavaScript is one. */
function isDeclaredDim(dim: unknown): boolean {
  if (dim === null || typeof dim === 'string' || isSize(dim)) return true
  if (typeof dim !== 'object') return false
  const { min, max } = dim as { readonly min?: unknown; readonly max?: unknown }
  return isSize(min) && (max === Infinity || isSize(max)) && (max as number) >= (min as number)
}

const shown = (dim: unknown): string => (typeof dim === 'object' ? 'an object' : String(dim))

/** Larger constants are not read while shapes are worked out; sparse ones are large with their zeros. */
const MAX_READ = 1 << 20

/** A constant's fact; its value is read when somebody asks for it. */
export const constantFact = (constant: Constant): TensorFact => new ConstantFact(constant)

class ConstantFact implements TensorFact {
  readonly kind = 'tensor'
  readonly type: DType
  readonly shape: readonly number[]
  /** Until it has been tried to read. */
  private unread: Constant | undefined
  private known: Tensor | undefined

  constructor(constant: Constant) {
    this.type = constant.type
    this.shape = constant.dims
    this.unread = constant
    this.known = undefined
  }

  get value(): Tensor | undefined {
    const constant = this.unread
    if (constant === undefined) return this.known
    this.unread = undefined
    if (constant.byteLength > MAX_READ || memoryBytes(constant.type, elementCount(constant.dims)) > MAX_READ)
      return undefined
    try {
      return (this.known = constant.read())
    } catch (error) {
      // Whoever needs the value to run reads it again and gets the error with its place.
      if (error instanceof NodewiseError) return undefined
      throw error
    }
  }
}
