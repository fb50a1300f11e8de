import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import type { Model } from '../../src/graph/graph.ts'
import { load } from '../../src/load.ts'
import { printModel } from '../../src/onnx/syntax/print.ts'
import { contentOf, takenApart, withoutFile, written } from '../onnx/write/copies.ts'
import { DATA, describeData } from './data.ts'

const models = (): string[] =>
  readdirSync(DATA, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.onnx'))
    .sort()

/** The model, or undefined for a file that is refused. */
async function opened(name: string): Promise<Model | undefined> {
  try {
    return await load(join(DATA, name))
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}

interface Sweep {
  /** Models that are not written byte by byte as they were. */
  readonly bytes: string[]
  /** Models that are not the same when written from the types of the graph alone. */
  readonly types: string[]
  /** Models that are not the same after they were printed as text and read again. */
  readonly text: string[]
}

/** Opens each model once and holds its copies against it. */
async function sweep(): Promise<Sweep> {
  const found: Sweep = { bytes: [], types: [], text: [] }
  for (const name of models()) {
    const model = await opened(name)
    if (model === undefined) continue
    const bytes = readFileSync(join(DATA, name))
    if (!bytes.equals(written(model, { keepExternal: true }))) found.bytes.push(name)
    if (!bytes.equals(written(takenApart(model), { keepExternal: true }))) found.bytes.push(`${name}, taken apart`)
    // A file with faults has parts that no graph has.
    if (!name.startsWith('onnx-node/') || model.graph.findings.length > 0) continue
    const content = contentOf(model)
    const isSame = async (copy: Promise<Model>): Promise<boolean> => isDeepStrictEqual(contentOf(await copy), content)
    if (!(await isSame(load(written(withoutFile(model)))))) found.types.push(name)
    const text = new TextEncoder().encode([...printModel(model)].join('\n'))
    if (!(await isSame(load(text, { name: 'model.onnxtxt' })))) found.text.push(name)
  }
  return found
}

describeData('every ONNX model of the data', () => {
  let found: Sweep
  beforeAll(async () => {
    found = await sweep()
  }, 600_000)

  test('is written byte by byte as it was, also where no message is copied as a whole', () =>
    expect(found.bytes).toEqual([]))

  test('of onnx-node is the same where it is written from the types of the graph alone', () =>
    expect(found.types).toEqual([]))

  test('of onnx-node is the same after it was printed as text and read again', () => expect(found.text).toEqual([]))
})
