import { describe, expect, test } from 'vitest'
import * as ort from '../../src/entries/onnxruntime.ts'

describe('the module', () => {
  test('has as its default all that it exports, as what is required has', () => {
    const { default: whole, ...named } = ort
    expect(Object.keys(whole).sort()).toEqual(Object.keys(named).sort())
    expect(whole.listSupportedBackends()).toEqual(ort.listSupportedBackends())
  })

  test('tells its version as onnxruntime-node does', () => {
    expect(ort.env.versions.node).toBe(ort.env.versions.common)
  })
})
