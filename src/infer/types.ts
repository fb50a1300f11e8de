import type { Call } from '../bind/call.ts'
import type { PortSchema } from '../bind/schema.ts'
import { fail } from '../errors.ts'
import type { Fact } from '../shapes/fact.ts'
import { dtypeName } from '../tensor/dtype.ts'
import { mapType, withArticle } from '../tensor/map.ts'

/**
 * Holds the types of a call's inputs against what its operator version allows.
 * @throws NodewiseError `type-not-allowed`, `index-type-not-allowed` (for an input called indices), `type-mismatch`
 *   (two inputs that must agree)
 */
export function checkTypes(call: Call, facts: readonly (Fact | undefined)[]): void {
  if (call.schema?.inputs) checkOnnx(call, facts)
  checkKinds(call, facts)
  for (const { index, name, types } of call.inputTypes) {
    const fact = facts[index]
    if (fact?.kind !== 'tensor' || fact.type === undefined || types.includes(fact.type)) continue
    const allowed = types.map(type => dtypeName(type, call.node.dialect)).join(', ')
    fail(codeFor(name), `${name} has type ${dtypeName(fact.type, call.node.dialect)}; allowed are ${allowed}`)
  }
}

const codeFor = (name: string): 'index-type-not-allowed' | 'type-not-allowed' =>
  name === 'indices' ? 'index-type-not-allowed' : 'type-not-allowed'

/** An empty sequence has no type to compare, yet is no tensor. */
function checkKinds({ operands }: Call, facts: readonly (Fact | undefined)[]): void {
  for (const { name, kind, index } of operands) {
    if (kind.startsWith('any')) continue
    const end = kind === 'variadic' ? facts.length : index + 1
    for (let i = index; i < end; i++) {
      const fact = facts[i]
      if (fact !== undefined && fact.kind !== 'tensor')
        fail('type-not-allowed', `${name} is ${withArticle(fact.kind)}; a tensor is expected`)
    }
  }
}

function checkOnnx(call: Call, facts: readonly (Fact | undefined)[]): void {
  const ports = call.schema?.inputs ?? []
  for (let i = 0; i < facts.length; i++) {
    const port = portAt(ports, i)
    const type = typeText(facts[i])
    if (port === undefined || type === undefined) continue
    if (!port.types.has(type))
      fail(
        codeFor(port.name),
        `${port.name} has type ${type}; ${call.node.type}-${call.version} allows ${[...port.types].join(', ')}`
      )
    if (call.op.dynamic || (call.op.mixesTypes && port.kind === 'variadic')) continue
    // The nearest earlier input of the same type variable; still earlier ones were compared with it.
    for (let j = i - 1; j >= 0; j--) {
      const seen = portAt(ports, j)
      const other = typeText(facts[j])
      if (seen?.variable !== port.variable || other === undefined) continue
      if (other !== type)
        fail('type-mismatch', `${port.name} has type ${type} and ${seen.name} ${other}; they must be the same`)
      break
    }
  }
}

/** The last port may be variadic. */
const portAt = (ports: readonly PortSchema[], index: number): PortSchema | undefined =>
  ports[Math.min(index, ports.length - 1)]

/** `float32`, `seq(int64)`, `optional(seq(string))`, `map(string,float32)`; undefined when not known. */
export function typeText(fact: Fact | undefined): string | undefined {
  if (fact === undefined) return undefined
  if (fact.kind === 'tensor') return fact.type
  if (fact.kind === 'map') return fact.keyType && fact.valueType && mapType(fact.keyType, fact.valueType)
  const element = typeText(fact.element)
  return element && `${fact.kind === 'sequence' ? 'seq' : 'optional'}(${element})`
}
