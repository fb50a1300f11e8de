import { describe, expect, it } from 'vitest'
import { safeFileNames } from '../../src/io/names.ts'
import { processorSeconds } from '../processor-time.ts'

describe('safeFileNames', () => {
  it('leaves safe names as they are', () => {
    expect(safeFileNames(['scores', 'layer_1.weight', 'a-b'])).toEqual(['scores', 'layer_1.weight', 'a-b'])
  })

  it('keeps names inside the folder', () => {
    expect(safeFileNames(['../../etc/passwd', '/abs', 'C:\\x', '..', '.', '', '~', '-rf', '.hidden', 'a/b'])).toEqual([
      '__.._etc_passwd',
      '_abs',
      'C_x',
      '_',
      '__2',
      '__3',
      '__4',
      '_rf',
      '_hidden',
      'a_b'
    ])
  })

  it('avoids names that Windows reserves', () => {
    expect(safeFileNames(['con', 'NUL.txt', 'com1', 'console', 'a.'])).toEqual([
      '_con',
      '_NUL.txt',
      '_com1',
      'console',
      'a'
    ])
  })

  it('makes names different where case does not count', () => {
    expect(safeFileNames(['a', 'A', 'a', 'a_2', 'é', 'è'])).toEqual(['a', 'A_3', 'a_4', 'a_2', '_', '__2'])
  })

  it('cuts names that are too long', () => {
    const names = safeFileNames(['x'.repeat(500), 'x'.repeat(600)])
    expect(names.every(name => name.length <= 125)).toBe(true)
    expect(new Set(names).size).toBe(2)
  })

  it('is quick for many equal names', async () => {
    const names = new Array(50_000).fill('same') as string[]
    const seconds = await processorSeconds(() => expect(new Set(safeFileNames(names)).size).toBe(50_000))
    // Some hundredths; a search for each number from the first on takes minutes.
    expect(seconds).toBeLessThan(5)
  })
})
