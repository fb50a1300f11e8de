import { expect, test } from 'vitest'
import { didYouMean } from '../src/suggest.ts'

test.each([
  ['thread', ['threads', 'seed'], 'threads'],
  ['chekc', ['run', 'check', 'test'], 'check'],
  ['Gahter', ['Gather', 'GatherND'], 'Gather'],
  ['GATHER', ['Gather', 'GatherND'], 'Gather'],
  ['input_id', ['input_ids', 'attention_mask'], 'input_ids']
])('%s of %j is meant to be %s', (given, words, meant) => {
  expect(didYouMean(given, words)).toBe(`; did you mean "${meant}"?`)
})

test.each([
  ['x', ['y', 'z']],
  ['scores', ['ids', 'rgb']],
  ['a', ['']],
  ['abc', []],
  ['q'.repeat(200), ['q'.repeat(199)]]
])('%s is none of %j', (given, words) => {
  expect(didYouMean(given, words)).toBe('')
})
