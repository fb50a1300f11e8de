import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { configFrom } from '../src/models/config.ts'

const schema = JSON.parse(readFileSync(new URL('../model.schema.json', import.meta.url), 'utf8')) as object
const isValid = new Ajv().compile(schema)

test.each<[object, boolean]>([
  [{}, true],
  [{ versions: 'all', instances: 2, threads: 1, precision: 'exact', maxMemory: 1, maxQueue: 1, timeout: 0.5 }, true],
  [{ versions: [1, 3], batching: { maxSize: 8, maxDelay: 2, force: true }, warmUp: [{ ids: [1, 128] }, {}] }, true],
  [{ $schema: 'model.schema.json' }, true],
  [{ versions: [] }, false],
  [{ versions: 'some' }, false],
  [{ instances: 0 }, false],
  [{ threads: 1.5 }, false],
  [{ precision: 'half' }, false],
  [{ timeout: -1 }, false],
  [{ batching: { size: 8 } }, false],
  [{ batching: 8 }, false],
  [{ warmUp: [{ ids: [-1] }] }, false],
  [{ warmUp: {} }, false],
  [{ toString: 1 }, false],
  [[], false]
])('the schema and the server agree on %j', (config, holds) => {
  expect(isValid(config)).toBe(holds)
  if (holds) expect(configFrom(config)).toEqual(config)
  else expect(() => configFrom(config)).toThrow()
})
