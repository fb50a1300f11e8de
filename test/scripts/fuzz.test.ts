import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleTarget } from '../../scripts/fuzz/bundle-target.mjs'

const FUZZ = join(import.meta.dirname, '../../scripts/fuzz/main.mjs')
const folder = mkdtempSync(join(tmpdir(), 'nodewise-fuzz-test-'))
const [target, faulty] = ['target.mjs', 'faulty-target.mjs'].map(name => join(folder, name))
beforeAll(async () => {
  await bundleTarget(join(import.meta.dirname, '../../scripts/fuzz/target.ts'), target)
  // The faulty one imports the other, which takes a second to bundle.
  await build({
    entryPoints: [join(import.meta.dirname, 'faulty-target.ts')],
    outfile: faulty,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        name: 'target',
        setup: ({ onResolve }) =>
          onResolve({ filter: /\/(?:target|index)\.ts$/ }, () => ({ path: './target.mjs', external: true }))
      }
    ]
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly format: string
  readonly count: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly findings: readonly unknown[]
}

interface Finished {
  readonly status: number | null
  readonly reports: Report[]
  readonly stderr: string
}

function fuzz(...args: string[]): Finished {
  const all = [FUZZ, '--json', '--out', join(folder, 'findings'), '--target', target, ...args]
  const env = { ...process.env, FAULTS: mkdtempSync(join(folder, 'faults-')) }
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8', env })
  return { status, stderr, reports: stdout === '' ? [] : (JSON.parse(stdout) as Report[]) }
}

describe('fuzzing', () => {
  test('finds nothing in 200 mutants of each format', () => {
    const { status, reports, stderr } = fuzz('--seed', 'test', '--count', '200', '--jobs', '1')
    expect(
      reports.map(({ findings }) => findings),
      stderr
    ).toEqual([[], []])
    expect(status).toBe(0)
    expect(reports.map(({ format }) => format)).toEqual(['onnx', 'ir'])
    for (const { outcomes, count } of reports) {
      expect(Object.values(outcomes).reduce((sum, times) => sum + times)).toBe(count)
      // Mutants that are all refused at once, or all run, would test nothing.
      expect(outcomes.ran).toBeGreaterThan(count / 10)
      expect(outcomes['load invalid-file']).toBeGreaterThan(count / 50)
    }
  })

  test('makes the same mutants from the same seed, and others from another', () => {
    const [one, same, other] = ['a', 'a', 'b'].map(
      seed => fuzz('--format', 'onnx', '--seed', seed, '--count', '40', '--corpus', 'models').reports[0]
    )
    expect([one, same, other].map(({ findings }) => findings)).toEqual([[], [], []])
    expect(same.outcomes).toEqual(one.outcomes)
    expect(other.outcomes).not.toEqual(one.outcomes)
  })

  test('finds faults of every kind, and writes down how each is seen again', () => {
    const { status, reports } = fuzz(
      '--target',
      faulty,
      '--format',
      'onnx',
      '--corpus',
      'models',
      '--seed',
      's8',
      '--count',
      '11',
      '--jobs',
      '1',
      '--hang',
      '3000',
      '--tries',
      '1',
      '--out',
      join(folder, 'planted')
    )
    expect(status).toBe(1)
    const findings = reports[0].findings as {
      folder: string
      signature: string
      problem: { kind: string }
      replay: string
    }[]
    expect(new Set(findings.map(({ problem }) => problem.kind))).toEqual(
      new Set(['untyped', 'hang', 'crash', 'memory', 'differs'])
    )
    for (const { folder: at, replay } of findings) {
      expect(existsSync(join(at, 'model.onnx'))).toBe(true)
      expect(replay).toMatch(/^npm run fuzz -- --seed s8 --format onnx --replay \d+$/)
    }
    const { signature } = findings.find(({ problem }) => problem.kind === 'untyped')!
    expect(signature).toContain('TypeError')
  }, 240_000)

  test('ends when it is interrupted, also while a mutant hangs', async () => {
    const out = join(folder, 'findings')
    const hang = String(2 ** 30)
    const args = [FUZZ, '--format', 'onnx', '--corpus', 'models', '--target', faulty, '--hang', hang, '--out', out]
    const FAULTS = mkdtempSync(join(folder, 'faults-'))
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, FAULTS } })
    const ended = new Promise(resolve => child.on('exit', resolve))
    // The mutant that hangs has said so.
    await expect.poll(() => existsSync(join(FAULTS, 'hang')), { timeout: 100_000 }).toBe(true)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
  })
})
