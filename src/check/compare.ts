import type { Place } from '../errors.ts'
import type { DeclaredDim, DeclaredType, Dialect, Finding, FindingCode } from '../graph/graph.ts'
import { type Dim, maxDim, mayMatch, minDim, printDim, printShape } from '../shapes/dim.ts'
import type { Fact, MapFact, TensorFact } from '../shapes/fact.ts'
import { printInterval } from '../shapes/sym.ts'
import { dtypeName } from '../tensor/dtype.ts'
import { mapType, withArticle } from '../tensor/map.ts'

type DeclaredTensor = Extract<DeclaredType, { kind: 'tensor' }>
type DeclaredMap = Extract<DeclaredType, { kind: 'map' }>

/** A type that a file declares for a value. */
export interface Declaration {
  readonly declared: DeclaredType
  /** Where the file declares it; called only for findings, since models have many declarations and few faults. */
  where(): DeclarationSite
}

/** Where a declaration is, for messages and findings. */
export interface DeclarationSite {
  /** `output port 2`, `graph output "y"` */
  readonly what: string
  readonly place: Place
  /** IR: place of each `<dim>`. */
  readonly dimPlaces?: readonly Place[]
}

/**
 * The finding that a declaration contradicts a fact; undefined where some values of the unknowns satisfy both. Names of
 * dims are labels and contradict nothing. The finding is of a wrong type, a wrong rank, or all wrong dims together.
 */
export function contradiction(declaration: Declaration, fact: Fact, dialect: Dialect): Finding | undefined {
  const { declared } = declaration
  if (declared.kind === 'other') return undefined
  if (declared.kind !== fact.kind) {
    const { what, place } = declaration.where()
    return finding(
      'type-mismatch',
      `${what} is declared ${withArticle(declared.kind)}; it is ${withArticle(fact.kind)}`,
      declared.kind,
      fact.kind,
      place
    )
  }
  if (declared.kind === 'map') return fact.kind === 'map' ? falseMap(declared, fact, declaration) : undefined
  if (declared.kind !== 'tensor') {
    const ofElement = (): DeclarationSite => {
      const { what, place } = declaration.where()
      return { what: `the element of ${what}`, place }
    }
    return fact.kind === 'tensor' || fact.kind === 'map'
      ? undefined
      : contradiction({ declared: declared.element, where: ofElement }, fact.element, dialect)
  }
  return fact.kind === 'tensor' ? falseTensor(declared, fact, declaration, dialect) : undefined
}

function falseMap({ keyType, valueType }: DeclaredMap, fact: MapFact, declaration: Declaration): Finding | undefined {
  const isKey = fact.keyType === undefined || fact.keyType === keyType
  const isValue = fact.valueType === undefined || valueType === undefined || fact.valueType === valueType
  if (isKey && isValue) return undefined
  const { what, place } = declaration.where()
  const [is, says] = [mapType(fact.keyType, fact.valueType), mapType(keyType, valueType)]
  return finding('type-mismatch', `${what} is declared ${says}; it is ${is}`, says, is, place)
}

function falseTensor(
  declared: DeclaredTensor,
  { type, shape }: TensorFact,
  declaration: Declaration,
  dialect: Dialect
): Finding | undefined {
  if (declared.type !== undefined && type !== undefined && declared.type !== type) {
    const { what, place } = declaration.where()
    const [is, says] = [dtypeName(type, dialect), dtypeName(declared.type, dialect)]
    return finding('type-mismatch', `${what} is declared ${says}; its type is ${is}`, says, is, place)
  }
  const { dims } = declared
  if (dims === undefined || shape === undefined) return undefined
  if (dims.length === shape.length && dims.every((dim, i) => dim === shape[i] || dimsAgree(dim, shape[i])))
    return undefined
  const { what, place, dimPlaces } = declaration.where()
  const says = `[${dims.map(printDeclared).join(', ')}]`
  const is = printShape(shape)
  if (dims.length !== shape.length)
    return finding('rank-mismatch', `${what} is declared ${says}; its dims are ${is}`, says, is, place)
  const wrong = dims.flatMap((dim, i) => (dimsAgree(dim, shape[i]) ? [] : [i]))
  const [first] = wrong
  const message =
    wrong.length === 1
      ? `dim ${first} of ${what} is declared ${printDeclared(dims[first])}; it is ${printDim(shape[first])}`
      : `${what} is declared ${says}; its dims are ${is}`
  return finding('dims-mismatch', message, says, is, dimPlaces?.[first] ?? place)
}

const finding = (code: FindingCode, message: string, declared: string, inferred: string, place: Place): Finding => ({
  code,
  severity: 'error',
  message,
  declared,
  inferred,
  place
})

function dimsAgree(declared: DeclaredDim, dim: Dim): boolean {
  if (declared === null || typeof declared === 'string') return true
  if (typeof declared === 'number') return mayMatch(dim, declared)
  return minDim(dim) <= declared.max && declared.min <= maxDim(dim)
}

/** Whether nothing in a declaration contradicts a fact. */
export const agrees = (declaration: Declaration, fact: Fact): boolean =>
  contradiction(declaration, fact, 'onnx') === undefined

/** A declared dim as text. */
export function printDeclared(dim: DeclaredDim): string {
  if (dim === null) return '?'
  if (typeof dim === 'object') return printInterval(dim.min, dim.max)
  return `${dim}`
}
