import { expect, test } from 'vitest'
import { defaultLimits, leastStructure, limitsFrom } from '../../src/graph/limits.ts'
import { BYTES_PER_UNIT } from '../../src/onnx/skim-fields.ts'
import { StructureBudget } from '../../src/onnx/structure-budget.ts'
import { errorOf } from '../ops/harness.ts'

/** Units that are more than the bound allows which a budget begins with. */
const MANY = (2 * leastStructure(defaultLimits())) / BYTES_PER_UNIT
/** A file that is large enough for them. */
const BYTES = 8 * MANY

test('a budget goes on to the limit beyond the bound that it begins with', () => {
  const budget = new StructureBudget(limitsFrom({}))
  budget.spend(MANY, BYTES, 0)
  expect(errorOf(() => budget.spend(2 ** 26, 1, 7)).details).toMatchObject({ limit: 'structureBytes', offset: 7 })
})

test('a budget keeps to a limit that is given', () => {
  const structureBytes = leastStructure(defaultLimits())
  const budget = new StructureBudget(limitsFrom({ structureBytes }))
  budget.spend(MANY / 2, BYTES, 0)
  expect(errorOf(() => budget.spend(1, BYTES, 3))).toMatchObject({
    code: 'limit-exceeded',
    details: { most: structureBytes }
  })
})
