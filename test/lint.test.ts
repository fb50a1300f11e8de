import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** For each rule a source that breaks it, and where it has options also what must not be reported. */
const PROBES: Readonly<Record<string, { readonly bad: string; readonly good?: string }>> = {
  'eslint/eqeqeq': { bad: 'export const f = (a: number, b: number) => a == b' },
  'eslint/max-lines': { bad: 'export const a = [\n' + '  1,\n'.repeat(399) + ']', good: '//\n'.repeat(400) },
  'eslint/max-lines-per-function': {
    bad: `export function f(a: number) {\n${'  a += 1\n'.repeat(59)}  return a\n}`,
    good: `export function f(a: number) {\n${'  a += 1\n\n  // why\n'.repeat(57)}  return a\n}`
  },
  'eslint/no-array-constructor': { bad: 'export const a = new Array(1, 2, 3)' },
  'eslint/no-cond-assign': { bad: 'export function f(a: number) {\n  if (a = 0) return 1\n  return 2\n}' },
  'eslint/no-constant-condition': {
    bad: 'export function f() {\n  if (true) return 1\n  return 2\n}',
    good: 'export function f(g: () => boolean) {\n  while (true) if (g()) return\n}'
  },
  'eslint/no-control-regex': { bad: 'export const a = /\\x00/' },
  'eslint/no-duplicate-imports': {
    bad: "import { a } from './a.ts'\nimport { b } from './a.ts'\nexport const c = [a, b]",
    good: "import type { A } from './a.ts'\nimport { b } from './a.ts'\nexport const c: A = b"
  },
  'eslint/no-empty': { bad: 'export function f(g: () => void) {\n  try {\n    g()\n  } catch {}\n}' },
  'eslint/no-fallthrough': {
    bad: 'export function f(a: number) {\n  switch (a) {\n    case 1:\n      a++\n    default:\n      a--\n  }\n}'
  },
  'eslint/no-self-assign': { bad: 'export function f(a: number) {\n  a = a\n  return a\n}' },
  'eslint/no-unsafe-finally': {
    bad: 'export function f(g: () => void) {\n  try {\n    g()\n  } finally {\n    return 1\n  }\n}'
  },
  'eslint/no-unused-expressions': { bad: 'export function f(a: number) {\n  a + 1\n}' },
  'eslint/no-unused-vars': {
    bad: 'export function f(a: number) {\n  const b = 1\n}',
    good: 'export function f(_a: number, b: [number, number]) {\n  const [_c, d] = b\n  return d\n}'
  },
  'eslint/no-var': { bad: 'export function f() {\n  var a = 1\n  return a\n}' },
  'eslint/prefer-const': {
    bad: 'export function f() {\n  let a = 1\n  return a\n}',
    good: 'export function f(g: [number, number]) {\n  let [a, b] = g\n  a += b\n  return a\n}'
  },
  'eslint/prefer-rest-params': { bad: 'export function f() {\n  return arguments\n}' },
  'eslint/prefer-spread': {
    bad: 'export function f(g: (...a: number[]) => void, a: number[]) {\n  g.apply(undefined, a)\n}'
  },
  'eslint/require-yield': { bad: 'export function* f() {\n  return 1\n}' },
  'eslint/sort-imports': {
    bad: "import { b, a } from './a.ts'\nexport const c = [a, b]",
    good: "import { a, B, c } from './a.ts'\nexport const d = [a, B, c]"
  },
  'eslint/use-isnan': { bad: 'export const f = (a: number) => a === NaN' },
  'eslint/valid-typeof': { bad: "export const f = (a: unknown) => typeof a === 'nunber'" },
  'typescript/await-thenable': { bad: 'export async function f(a: number) {\n  await a\n}' },
  'typescript/ban-ts-comment': { bad: '// @ts-ignore\nexport const a = 1' },
  'typescript/consistent-type-imports': {
    bad: "import { A } from './a.ts'\nexport const f = (a: A) => a",
    good: "import { type A, b } from './a.ts'\nexport const f = (a: A) => [a, b]"
  },
  'typescript/no-duplicate-enum-values': { bad: 'export enum A {\n  B = 1,\n  C = 1\n}' },
  'typescript/no-empty-object-type': { bad: 'export const f = (a: {}) => a' },
  'typescript/no-explicit-any': { bad: 'export const f = (a: any) => a as unknown' },
  'typescript/no-extra-non-null-assertion': { bad: 'export const f = (a?: { b: number }) => a!!.b' },
  'typescript/no-floating-promises': { bad: 'export function f(g: () => Promise<void>) {\n  g()\n}' },
  'typescript/no-import-type-side-effects': { bad: "import { type A } from './a.ts'\nexport const f = (a: A) => a" },
  'typescript/no-misused-new': { bad: 'export interface A {\n  new (): A\n}' },
  'typescript/no-misused-promises': {
    bad: 'export function f(g: () => Promise<boolean>, a: number[]) {\n  a.forEach(async () => void (await g()))\n}'
  },
  'typescript/no-namespace': { bad: 'export namespace A {\n  export const b = 1\n}' },
  'typescript/no-non-null-asserted-optional-chain': { bad: 'export const f = (a?: { b?: number }) => a?.b!' },
  'typescript/no-require-imports': { bad: "import a = require('a')\nexport const b = a" },
  'typescript/no-this-alias': {
    bad: 'export class A {\n  f() {\n    const self = this\n    return () => self\n  }\n}'
  },
  'typescript/no-unnecessary-type-assertion': { bad: 'export const f = (a: number) => a as number' },
  'typescript/no-unnecessary-type-constraint': { bad: 'export const f = <T extends unknown>(a: T) => a' },
  'typescript/no-unsafe-declaration-merging': { bad: 'export interface A {\n  b: number\n}\nexport class A {}' },
  'typescript/no-unsafe-function-type': { bad: 'export const f = (a: Function) => a' },
  'typescript/no-wrapper-object-types': { bad: 'export const f = (a: Number) => a' },
  'typescript/only-throw-error': { bad: "export function f() {\n  throw 'a'\n}" },
  'typescript/prefer-as-const': { bad: "export const a = { b: 'c' as 'c' }" },
  'typescript/prefer-namespace-keyword': { bad: 'declare module A {\n  export const b = 1\n}' },
  'typescript/prefer-promise-reject-errors': { bad: "export const f = () => Promise.reject('a')" },
  'typescript/return-await': {
    bad: 'export async function f(g: () => Promise<1>) {\n  try {\n    return g()\n  } finally {\n    void g()\n  }\n}'
  },
  'typescript/switch-exhaustiveness-check': {
    bad: "export function f(a: 'b' | 'c') {\n  switch (a) {\n    case 'b':\n      return 1\n  }\n  return 2\n}",
    good: "export function f(a: 'b' | 'c') {\n  switch (a) {\n    case 'b':\n    default:\n      return 1\n  }\n}"
  },
  'typescript/triple-slash-reference': { bad: '/// <reference path="./a.ts" />\nexport const a = 1' },
  'Unused eslint-disable directive': { bad: '// eslint-disable-next-line no-var\nexport const a = 1' }
}

interface Diagnostic {
  readonly message: string
  /** `eslint(no-var)`; absent for a directive that disables nothing. */
  readonly code?: string
  readonly filename: string
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-lint-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = (rule: string, kind: 'bad' | 'good'): string => `src/${kind}-${rule.replaceAll(/[/ ]/g, '-')}.ts`
const reported = new Map<string, Set<string>>()

beforeAll(async () => {
  mkdirSync(join(folder, 'src'))
  copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, target: 'ES2022', module: 'NodeNext', types: [] },
      include: ['src']
    })
  )
  for (const [rule, probes] of Object.entries(PROBES)) {
    for (const kind of ['bad', 'good'] as const) {
      const text = probes[kind]
      if (text !== undefined) writeFileSync(join(folder, fileOf(rule, kind)), text)
    }
  }
  const output = await new Promise<string>(resolve => {
    const program = join(root, 'node_modules/oxlint/bin/oxlint')
    const env = { ...process.env, OXLINT_TSGOLINT_PATH: join(root, 'node_modules/.bin/tsgolint') }
    execFile(process.execPath, [program, '--format', 'json'], { cwd: folder, env }, (_error, stdout) => resolve(stdout))
  })
  for (const { code, message, filename } of (JSON.parse(output) as { diagnostics: Diagnostic[] }).diagnostics) {
    const name = code === undefined ? message.replace(/ \(.*/, '') : code.replace(/\(([^)]*)\)$/, '/$1')
    const of = filename.replaceAll('\\', '/')
    reported.set(of, (reported.get(of) ?? new Set()).add(name))
  }
})

describe('the lint', () => {
  test('has a probe for each of its rules', () => {
    interface Rules {
      readonly rules: object
    }
    const config = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as Rules & { overrides: Rules[] }
    const names = [config, ...config.overrides]
      .flatMap(({ rules }) => Object.keys(rules))
      .map(name => (name.includes('/') ? name : `eslint/${name}`))
    expect(names.filter(name => !(name in PROBES))).toEqual([])
  })

  test.each(Object.keys(PROBES))('reports what breaks %s', rule => {
    expect([...(reported.get(fileOf(rule, 'bad')) ?? [])]).toContain(rule)
  })

  test.each(Object.keys(PROBES).filter(rule => PROBES[rule].good))('reports no more of %s', rule => {
    expect([...(reported.get(fileOf(rule, 'good')) ?? [])]).toEqual([])
  })
})
