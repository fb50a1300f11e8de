import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCases } from '../../src/cli/test/cases.ts'
import { runCase } from '../../src/cli/test/run-case.ts'
import { DATA } from './data.ts'
import { indexOf, missingOps } from './supported.ts'

/**
 * One test for each case under a folder of the data whose name is wanted.
 * @returns the paths of these cases below the data
 */
export function testCases(folder: string, isWanted: (name: string) => boolean = () => true): string[] {
  const names: string[] = []
  for (const one of findCases(join(DATA, folder))) {
    const name = one.name.slice(DATA.length + 1)
    if (!isWanted(name.slice(name.lastIndexOf('/') + 1))) continue
    names.push(name)
    test(name, async () => {
      const { status, message } = await runCase(one)
      expect(`${status} ${message}`).toBe('pass ')
    })
  }
  return names
}

/** One test for each wanted case of an index whose operators are all listed by `nodewise ops`. */
export function testSupportedCases(folder: string, isWanted: (name: string) => boolean = () => true): void {
  const supported = new Set(
    indexOf(folder)
      .filter(row => missingOps(row).length === 0)
      .map(({ name }) => name)
  )
  testCases(folder, name => supported.has(name) && isWanted(name))
}
