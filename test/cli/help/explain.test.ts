import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CODES } from '../../../src/check/codes.ts'
import { HOME } from '../../../src/cli/help/explain.ts'
import { nodewise, nodewiseJson } from '../command.ts'

describe('explain', () => {
  test('says what codes mean, with an example and where to read more', async () => {
    const { status, stdout } = await nodewise(['explain', 'dims-mismatch', 'cycle'])
    expect(status).toBe(0)
    expect(stdout).toMatch(
      /^dims-mismatch\n {2}A dim is declared that cannot be true[^]*\n {2}Example: Gather on axis 2/
    )
    expect(stdout).toContain(`  ${HOME}/blob/main/docs/checking.md#cycle\n`)
  })

  test('lists all codes, a sentence each', async () => {
    const { stdout } = await nodewise(['explain'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map(line => line.split(' ')[0])).toEqual(Object.keys(CODES))
    expect(stdout).toMatch(/^unproven-declaration +A note: a declaration is more precise than what can be inferred\.$/m)
  })

  test('gives JSON', async () => {
    const { json } = await nodewiseJson(['explain', 'cycle', '--json'])
    expect(json).toEqual([
      {
        code: 'cycle',
        meaning: 'A node waits for its own output.',
        example: '`a` reads `y`, which `b` makes from what `a` makes.',
        helpUri: `${HOME}/blob/main/docs/checking.md#cycle`
      }
    ])
  })

  test('knows what was meant', async () => {
    expect(await nodewise(['explain', 'dim-mismatch'])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'nodewise: there is no code "dim-mismatch"; did you mean "dims-mismatch"?\n'
    })
  })

  test('names the home that the package names', () => {
    const { repository } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
      repository: { url: string }
    }
    expect(repository.url).toBe(`git+${HOME}.git`)
  })
})
