import { describe, expect, test } from 'vitest'
import { producersOf, type Sortable, sortNodes } from '../../src/graph/sort.ts'

/** `a,b>c` reads a and b and makes c; `|d` after the outputs captures d. */
function graph(...nodes: string[]): Sortable {
  const list = (text: string | undefined): string[] => (text ? text.split(',') : [])
  return {
    nodes: nodes.map(node => {
      const [inputs, rest] = node.split('>')
      const [outputs, captures] = rest.split('|')
      return {
        inputs: list(inputs).map(id => (id === '-' ? undefined : id)),
        outputs: list(outputs),
        captures: list(captures)
      }
    })
  }
}

describe('sortNodes', () => {
  test('keeps the order of a graph that is in order', () => {
    expect(sortNodes(graph('x>a', 'x>b', 'b,a>c', '>d'))).toEqual({ order: [0, 1, 2, 3] })
  })

  test('puts producers before consumers', () => {
    expect(sortNodes(graph('b>c', 'a>b', 'x>a')).order).toEqual([2, 1, 0])
  })

  test('counts what bodies capture as inputs', () => {
    expect(sortNodes(graph('x>a|late', 'x>late')).order).toEqual([1, 0])
  })

  test('passes over inputs that are left out or that no node makes', () => {
    expect(sortNodes(graph('-,weights>a', 'a>b'))).toEqual({ order: [0, 1] })
  })

  test('names the nodes of a cycle in the order in which they read each other', () => {
    const { cycle, order } = sortNodes(graph('x>a', 'a,d>b', 'b>c', 'c>d', 'd>y'))
    expect(cycle).toEqual([1, 3, 2])
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4])
  })

  test('finds a node that reads its own output', () => {
    expect(sortNodes(graph('a>a')).cycle).toEqual([0])
  })

  test('finds a cycle that goes through a capture', () => {
    expect(sortNodes(graph('x>a|b', 'a>b')).cycle).toEqual([0, 1])
  })

  test('takes a chain of 200,000 nodes in reverse without running out of stack', () => {
    const count = 200_000
    const nodes = Array.from({ length: count }, (_, i) => ({ inputs: [`v${i + 1}`], outputs: [`v${i}`], captures: [] }))
    const { order, cycle } = sortNodes({ nodes })
    expect(cycle).toBeUndefined()
    expect(order[0]).toBe(count - 1)
    expect(order[count - 1]).toBe(0)
  })
})

test('producersOf takes the first node where two make the same value', () => {
  expect([...producersOf(graph('x>a', 'y>a'))]).toEqual([['a', 0]])
})
