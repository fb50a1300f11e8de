import { describe, expect, test } from 'vitest'
import { baseOf, derive } from '../../src/graph/derive.ts'

class Part {
  readonly type: string = 'Add'
  readonly inputs: readonly string[] = ['a', 'b']
  get label(): string {
    return `${this.type} of ${this.inputs.join(' and ')}`
  }
}

describe('a derived part', () => {
  test('has the properties of the part, but for those that change, and leaves the part as it was', () => {
    const part = new Part()
    const derived = derive(part, { inputs: ['c'] })
    expect(derived).toEqual(Object.assign(new Part(), { inputs: ['c'] }))
    expect(Object.keys(derived)).toEqual(['type', 'inputs'])
    expect(part.inputs).toEqual(['a', 'b'])
  })

  test('has the getters of the part and of its class, which read the derived part', () => {
    const part = Object.assign(new Part(), { place: '' })
    Object.defineProperty(part, 'place', { get: () => 'line 1', enumerable: true, configurable: true })
    const derived = derive(part, { type: 'Sum' })
    expect(derived.label).toBe('Sum of a and b')
    expect(Object.getOwnPropertyDescriptor(derived, 'place')?.get).toBeDefined()
    expect(derived.place).toBe('line 1')
  })

  test('takes changes of what its class computes, and of what the part lacks', () => {
    const derived = derive(new Part() as Part & { readonly domain?: string }, { label: 'sum', domain: 'own' })
    expect([derived.label, derived.domain]).toEqual(['sum', 'own'])
  })

  test('stays the part of the file, however often it was derived', () => {
    const part = new Part()
    expect(baseOf(derive(derive(part, { type: 'Sum' }), { type: 'Mul' }))).toBe(part)
    expect(baseOf(part)).toBe(part)
  })
})
