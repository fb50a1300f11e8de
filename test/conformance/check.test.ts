import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CheckResult } from '../../src/check/result.ts'
import { NodewiseError } from '../../src/errors.ts'
import type { Finding } from '../../src/graph/graph.ts'
import { check } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { dtypeFromName } from '../../src/tensor/dtype.ts'
import { DATA, describeData } from './data.ts'

const json = <T>(...path: string[]): T => JSON.parse(readFileSync(join(DATA, ...path), 'utf8')) as T
const foldersIn = (...path: string[]): string[] =>
  readdirSync(join(DATA, ...path), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
const modelIn = (folder: string): string =>
  ['model.onnx', 'model.xml'].map(name => join(folder, name)).find(existsSync) ?? expect.fail(`no model in ${folder}`)

type Reported = Pick<Finding, 'code' | 'severity' | 'message' | 'place'>

/** What is reported for a file; one that cannot be loaded gives that one error. */
async function findingsOf(file: string): Promise<readonly Reported[]> {
  try {
    return check(await load(file)).findings
  } catch (error) {
    if (error instanceof NodewiseError)
      return [{ code: error.code, severity: 'error', message: error.message, place: error.place }]
    throw error
  }
}

const errorsIn = (findings: readonly Reported[]): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`)

describeData('seeded faults', () => {
  interface Fault {
    readonly id: string
    readonly base: string
    readonly file: string
    readonly certainty: string
    readonly maxFindings: number
  }
  interface Judgement {
    readonly found: boolean
    readonly cascade: boolean
  }
  interface Faults {
    materialise(bases: string, fault: string, folder: string): string
    judge(fault: unknown, findings: readonly Reported[]): Judgement
  }

  const folder = mkdtempSync(join(tmpdir(), 'nodewise-faults-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let faults: Faults
  beforeAll(async () => {
    faults = (await import(/* @vite-ignore */ pathToFileURL(join(DATA, 'faults/apply_fault.mjs')).href)) as Faults
  })

  describe.each(['onnx', 'openvino'])('in %s', dialect => {
    const made = (file: string, id: string): string =>
      faults.materialise(
        join(DATA, 'faults', dialect, 'bases'),
        join(DATA, 'faults', dialect, file),
        join(folder, dialect, id)
      )

    test.each(json<Fault[]>('faults', dialect, 'index.json'))(
      '$id is found, and found once',
      async ({ id, file, certainty }) => {
        const findings = await findingsOf(made(file, id))
        const { found, cascade } = faults.judge(json('faults', dialect, file), findings)
        if (certainty === 'contradiction') expect(found, JSON.stringify(findings)).toBe(true)
        expect(cascade, errorsIn(findings).join('\n')).toBe(false)
      }
    )

    test.each(json<Fault[]>('faults', dialect, 'harmless.json'))('$id is no fault', async ({ id, file }) => {
      expect(errorsIn(await findingsOf(made(file, id)))).toEqual([])
    })

    test.each(foldersIn('faults', dialect, 'bases'))('%s without a fault has none', async name => {
      expect(errorsIn(await findingsOf(modelIn(join(DATA, 'faults', dialect, 'bases', name))))).toEqual([])
    })
  })
})

describeData('shapes of gathers', () => {
  type Dims = readonly (number | string)[]
  interface Expected {
    readonly error?: string
    readonly outputs?: readonly { readonly name: string; readonly type: string; readonly dims: Dims | null }[]
  }

  /** Whether an inferred dim says at least as much as the expected one. */
  const isAsExact = (dim: number | string, expected: number | string): boolean => {
    if (dim === expected || expected === '?') return true
    const interval = boundsOf(expected)
    const own = boundsOf(dim)
    return interval !== undefined && own !== undefined && interval[0] <= own[0] && own[1] <= interval[1]
  }

  function boundsOf(dim: number | string): [number, number] | undefined {
    if (typeof dim === 'number') return [dim, dim]
    const [, min, max] = /^(\d+)\.\.(\d*)$/.exec(dim) ?? []
    return min === undefined ? undefined : [Number(min), max === '' ? Infinity : Number(max)]
  }

  const outputOf = async (file: string, name: string): Promise<CheckResult['values'][number] | undefined> => {
    const model = await load(file)
    const port = model.graph.outputs.find(output => output.name === name || output.aliases.includes(name))
    return check(model).values.find(({ id, graphPath }) => id === port?.value && graphPath === '')
  }

  test.each(foldersIn('gather/shapes'))('%s is inferred as exactly as can be', async name => {
    const { error, outputs = [] } = json<Expected>('gather/shapes', name, 'expected.json')
    const file = modelIn(join(DATA, 'gather/shapes', name))
    const findings = await findingsOf(file)
    if (error !== undefined) {
      expect(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toContain(error)
      return
    }
    expect(errorsIn(findings)).toEqual([])
    for (const { name: output, type, dims } of outputs) {
      const value = await outputOf(file, output)
      expect(dtypeFromName(value?.type ?? '')).toBe(dtypeFromName(type))
      if (dims === null) continue
      expect(value?.dims).toHaveLength(dims.length)
      expect(
        dims.every((dim, i) => isAsExact(value!.dims![i], dim)),
        `${value?.dims?.join()} against ${dims.join()}`
      ).toBe(true)
    }
  })

  interface Row {
    readonly name: string
    readonly expect: string
    readonly static?: boolean
  }
  const early = ['onnx', 'openvino'].flatMap(dialect =>
    json<Row[]>('gather', dialect, 'index.json')
      .filter(row => row.static)
      .map(row => ({ ...row, path: `gather/${dialect}/${row.name}` }))
  )

  test.each(early)('$path is refused without a run', async ({ path, expect: expected }) => {
    const codes = (await findingsOf(modelIn(join(DATA, path))))
      .filter(({ severity }) => severity === 'error')
      .map(({ code }) => code)
    expect(codes).toContain(expected.replace('error:', ''))
  })
})

describeData('models without faults', () => {
  test.each(['zoo', 'openvino-zoo', 'onnx-node', 'openvino-op'])('of %s give no errors', async set => {
    const reported: string[] = []
    for (const name of foldersIn(set)) {
      for (const error of errorsIn(await findingsOf(modelIn(join(DATA, set, name))))) reported.push(`${name}: ${error}`)
    }
    expect(reported).toEqual([])
  })
})
