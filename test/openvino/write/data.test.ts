import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../../src/errors.ts'
import { fileSource } from '../../../src/files/byte-source.ts'
import type { Model } from '../../../src/graph/graph.ts'
import { loadOpenvino } from '../../../src/openvino/load.ts'
import { digestOf, writtenAgain } from './same.ts'

const DATA = join(import.meta.dirname, '../../../../shared/data')
const FOLDERS = ['openvino-zoo', 'openvino-op', 'openvino-op2', 'gather', 'diverge', 'faults']

/** The model of a file; undefined where it is none. */
function load(path: string): Model | undefined {
  const bin = path.replace(/\.xml$/, '.bin')
  try {
    return loadOpenvino(fileSource(path, 'model.xml'), {
      file: 'model.xml',
      bin: () => (existsSync(bin) ? fileSource(bin) : undefined)
    })
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}

describe.runIf(existsSync(DATA)).each(FOLDERS)('IR files of %s', folder => {
  test('are equal when they are written and read again', () => {
    const files = readdirSync(join(DATA, folder), { recursive: true, encoding: 'utf8' })
    let written = 0
    for (const name of files.filter(file => file.endsWith('.xml'))) {
      const model = load(join(DATA, folder, name))
      if (model === undefined) continue
      expect(digestOf(writtenAgain(model)), name).toEqual(digestOf(model))
      written++
    }
    expect(written).toBeGreaterThan(0)
  })
})
