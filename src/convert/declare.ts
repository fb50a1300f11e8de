import type { DeclaredDim, DeclaredType } from '../graph/graph.ts'
import type { Dim } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { hasFresh, printInt } from '../shapes/sym.ts'

/** What a file declares of a value: its fact, with symbols as names where they are plain names, else as intervals. */
export function declarationOf(fact: Fact): DeclaredType | undefined {
  switch (fact.kind) {
    case 'tensor':
      return {
        kind: 'tensor',
        ...(fact.type && { type: fact.type }),
        ...(fact.shape && { dims: fact.shape.map(declaredDim) })
      }
    case 'map':
      return (
        fact.keyType && { kind: 'map', keyType: fact.keyType, ...(fact.valueType && { valueType: fact.valueType }) }
      )
    default: {
      const element = declarationOf(fact.element)
      return element && { kind: fact.kind, element }
    }
  }
}

function declaredDim(dim: Dim): DeclaredDim {
  if (typeof dim === 'number') return dim
  if (!hasFresh(dim) && /^[A-Za-z_][\w.]*$/.test(printInt(dim))) return printInt(dim)
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
