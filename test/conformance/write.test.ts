import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
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

describeData('every ONNX model of the data', () => {
  const names = models()

  test(
    'is written byte by byte as it was, also where no message is copied as a whole',
    { timeout: 600_000 },
    async () => {
      const wrong: string[] = []
      for (const name of names) {
        const model = await opened(name)
        if (model === undefined) continue
        const bytes = readFileSync(join(DATA, name))
        if (!bytes.equals(written(model, { keepExternal: true }))) wrong.push(name)
        if (!bytes.equals(written(takenApart(model), { keepExternal: true }))) wrong.push(`${name}, taken apart`)
      }
      expect(wrong).toEqual([])
    }
  )

  test(
    'of onnx-node is the same where it is written from the types of the graph alone',
    { timeout: 600_000 },
    async () => {
      const wrong: string[] = []
      for (const name of names.filter(path => path.startsWith('onnx-node/'))) {
        const model = await opened(name)
        // A file with faults has parts that no graph has.
        if (model === undefined || model.graph.findings.length > 0) continue
        const copy = await load(written(withoutFile(model)))
        if (!isDeepStrictEqual(contentOf(copy), contentOf(model))) wrong.push(name)
      }
      expect(wrong).toEqual([])
    }
  )

  test('of onnx-node is the same after it was printed as text and read again', { timeout: 600_000 }, async () => {
    const wrong: string[] = []
    for (const name of names.filter(path => path.startsWith('onnx-node/'))) {
      const model = await opened(name)
      if (model === undefined || model.graph.findings.length > 0) continue
      const text = new TextEncoder().encode([...printModel(model)].join('\n'))
      const copy = await load(text, { name: 'model.onnxtxt' })
      if (!isDeepStrictEqual(contentOf(copy), contentOf(model))) wrong.push(name)
    }
    expect(wrong).toEqual([])
  })
})
