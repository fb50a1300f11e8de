import { expect, test } from 'vitest'
import { silu } from '../../src/op-kit/fused.ts'
import { rotation } from '../../src/op-kit/rotation.ts'
import * as ops from '../../src/ops/index.ts'
import { floatPatterns } from '../../src/plan/fuse-to-floats.ts'
import { QUANTIZED_ROUNDED, ROUNDED } from '../../src/plan/fusions.ts'

/** Operators that only the planner makes. */
const MADE = [silu.name, rotation.name, 'FusedMatMul']

test('patterns name operators that there are', () => {
  const known = new Set([...Object.values(ops).flat(), ...MADE.map(name => ({ name }))].map(({ name }) => name))
  const patterns = [...ROUNDED, ...QUANTIZED_ROUNDED, ...floatPatterns]
  const named = patterns.flatMap(({ calls }) => Object.values(calls).flatMap(call => call.ops ?? []))
  expect(named.filter(name => !known.has(name))).toEqual([])
})
