import type { DeclaredDim, DeclaredType } from '../graph/graph.ts'
import { type Dim, printDim } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { hasFresh } from '../shapes/sym.ts'

/**
 * What a fact says, as a declaration: named dims by their names, others that are not known as intervals.
 * @param earlier what was declared before; it stays where the fact does not say more
 */
export function declarationOf(fact: Fact, earlier?: DeclaredType): DeclaredType | undefined {
  if (fact.kind === 'map') {
    const { keyType, valueType } = fact
    return keyType === undefined ? earlier : { kind: 'map', keyType, ...(valueType && { valueType }) }
  }
  if (fact.kind !== 'tensor') {
    const element = declarationOf(fact.element, earlier?.kind === fact.kind ? earlier.element : undefined)
    return { kind: fact.kind, element: element ?? { kind: 'tensor' } }
  }
  if (earlier?.kind === 'other') return earlier
  const before = earlier?.kind === 'tensor' ? earlier : undefined
  const type = fact.type ?? before?.type
  if (type === undefined && earlier !== undefined) return earlier
  const known = before?.dims?.length === fact.shape?.length ? before?.dims : undefined
  const dims = fact.shape?.map((dim, i) => declaredDim(dim, known?.[i])) ?? before?.dims
  return { kind: 'tensor', ...(type && { type }), ...(dims && { dims }) }
}

/** A dim that is not known keeps what was declared, which may say more than can be found out. */
function declaredDim(dim: Dim, earlier: DeclaredDim | undefined): DeclaredDim {
  if (typeof dim === 'number') return dim
  if (!hasFresh(dim)) return printDim(dim)
  if (earlier !== undefined) return earlier
  const min = Math.max(0, dim.min)
  return min === 0 && dim.max === Infinity ? null : { min, max: dim.max }
}

/** The declaration in words of a dialect: ONNX has names and no intervals, IR has intervals and no names. */
export function declaredIn(dialect: 'onnx' | 'openvino', declared: DeclaredType | undefined): DeclaredType | undefined {
  if (declared?.kind !== 'tensor' || declared.dims === undefined) return declared
  return {
    ...declared,
    dims: declared.dims.map(dim =>
      dialect === 'onnx' ? (typeof dim === 'object' ? null : dim) : typeof dim === 'string' ? null : dim
    )
  }
}
