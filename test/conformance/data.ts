import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The conformance data, beside the repository. */
export const DATA = join(import.meta.dirname, '../../../shared/data')

/**
 * Tests that need the conformance data. Without them they are skipped with a word; where CI is set, that is a failure.
 */
export function describeData(name: string, tests: () => void): void {
  if (existsSync(DATA)) describe(name, tests)
  else if ((process.env.CI ?? '') !== '')
    test(`${name}: the data are at ../shared/data`, () => expect.fail('../shared/data is not there'))
  else test.skip(`${name}: skipped, since ../shared/data is not there`)
}
