import { describe, expect, test } from 'vitest'
import { joined, lazyLibrary, libraryOf } from '../../src/op-kit/library.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import { castLike } from '../../src/ops/elementwise/cast.ts'
import { unaryOps } from '../../src/ops/elementwise/unary.ts'
import { gather } from '../../src/ops/gather/gather.ts'

test('a library of operators finds them by the types of nodes in either dialect', () => {
  const library = libraryOf(ALL_OPS)
  expect(library.ofType('Gather')).toEqual([gather])
  expect(library.ofType('ConvertLike')).toEqual([castLike])
  expect(library.ofType('toString')).toEqual([])
  expect(library.all()).toBe(ALL_OPS)
})

test('of libraries that are joined the operators of the second come last', () => {
  const own = { ...gather }
  const library = joined(libraryOf([gather, castLike]), libraryOf([own]))
  expect(library.ofType('Gather')).toEqual([gather, own])
  expect(library.ofType('Gather')[1]).toBe(own)
  expect(library.all()).toEqual([gather, castLike, own])
})

describe('a lazy library', () => {
  const library = (): { made: string[]; of: ReturnType<typeof lazyLibrary> } => {
    const made: string[] = []
    const maker =
      <T>(name: string, value: T) =>
      (): T => {
        made.push(name)
        return value
      }
    return { made, of: lazyLibrary([maker('gather', gather), maker('unary', unaryOps)], { Gather: [0], Abs: [1] }) }
  }

  test('makes an operator once, when its type is first asked for', () => {
    const { made, of } = library()
    expect(of.ofType('Sqrt').concat(of.ofType('hasOwnProperty'))).toEqual([])
    expect(made).toEqual([])
    expect(of.ofType('Abs').map(({ name }) => name)).toEqual(['Abs'])
    expect(of.ofType('Abs')).toHaveLength(1)
    expect(made).toEqual(['unary'])
  })

  test('gives all in order', () => {
    const { made, of } = library()
    expect(of.all()).toEqual([gather, ...unaryOps])
    expect(made).toEqual(['gather', 'unary'])
  })
})
