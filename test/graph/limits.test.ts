import { describe, expect, test } from 'vitest'
import { defaultLimits, exceed, leastStructure, limitsFrom } from '../../src/graph/limits.ts'
import { load } from '../../src/load.ts'
import { block, modelAround } from '../onnx/encode.ts'
import { errorOf } from '../ops/harness.ts'

describe('limits', () => {
  test('have defaults, each of which can be replaced', () => {
    expect(limitsFrom()).toEqual(defaultLimits())
    expect(limitsFrom({ graphDepth: 5 })).toEqual({ ...defaultLimits(), graphDepth: 5 })
    expect(defaultLimits()).toMatchObject({
      messageDepth: 100,
      xmlDepth: 100,
      graphDepth: 32,
      callDepth: 32,
      nodes: 1_000_000
    })
  })

  test('have one that is asked for when it is needed, and a bound of it before', () => {
    const limits = limitsFrom({ nodes: 3 })
    expect(leastStructure(limits)).toBe(2 ** 20)
    expect(limits.structureBytes).toBeGreaterThan(2 ** 20)
    expect(leastStructure(limitsFrom({ structureBytes: 5 }))).toBe(5)
    expect(leastStructure({ ...limits })).toBe(limits.structureBytes)
  })

  test.each([
    ['depth', 1],
    ['__proto__', 1],
    ['toString', 1],
    ['nodes', -1],
    ['nodes', 1.5],
    ['nodes', NaN],
    ['nodes', Infinity],
    ['graphDepth', 401],
    ['rank', 65]
  ])('%s of %d is none', (name, value) => {
    expect(errorOf(() => limitsFrom(Object.fromEntries([[name, value]]))).code).toBe('bad-usage')
  })

  test('are named by the error that they cause', () => {
    const error = errorOf(() => exceed('nodes', limitsFrom({ nodes: 3 }), 'it has 4 nodes', { file: 'm' }))
    expect(error).toMatchObject({
      code: 'limit-exceeded',
      reason: 'it has 4 nodes (limit nodes)',
      place: { file: 'm' },
      details: { limit: 'nodes', most: 3 }
    })
  })

  test('hold for one load and stay with its model', async () => {
    const nested = (levels: number): number[] => (levels === 0 ? [] : block(1, block(5, block(6, nested(levels - 1)))))
    const bytes = modelAround(nested(40))
    await expect(load(bytes)).rejects.toMatchObject({ code: 'limit-exceeded', details: { limit: 'graphDepth' } })
    await expect(load(bytes, { limits: { graphDepth: 40 } })).rejects.toMatchObject({
      code: 'limit-exceeded',
      details: { limit: 'messageDepth' }
    })
    expect((await load(bytes, { limits: { messageDepth: 200, graphDepth: 40 } })).limits.graphDepth).toBe(40)
    await expect(load(bytes)).rejects.toMatchObject({ code: 'limit-exceeded' })
  })
})
