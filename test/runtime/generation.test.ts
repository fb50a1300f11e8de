import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../models/${name}`, import.meta.url))
const { words } = JSON.parse(await readFile(path('decoder.json'), 'utf8')) as { words: readonly string[] }
const int64s = (values: readonly number[]): Tensor => new Tensor('int64', values.map(BigInt), [1, values.length])

/** The words that follow "a graph", the most likely each time, by a session that is fed its caches. */
async function greedyWords(model: string, room: number, views: boolean): Promise<string> {
  const session = await InferenceSession.create(path(model))
  const pasts = session.inputNames.filter(name => name.startsWith('past_key_values'))
  let caches: Record<string, Tensor> = Object.fromEntries(
    pasts.map(name => [name, new Tensor('float32', new Float32Array(2 * room * 16), [1, 2, room, 16])])
  )
  const found: string[] = []
  let seen = 0
  for (let tokens = ['a', 'graph'].map(word => words.indexOf(word)); found.length < 20;) {
    const mask = pasts.length > 0 ? { attention_mask: int64s(new Array<number>(seen + tokens.length).fill(1)) } : {}
    const position_ids = int64s(tokens.map((_, i) => seen + i))
    const results = await session.run({ input_ids: int64s(tokens), position_ids, ...mask, ...caches }, { views })
    caches = Object.fromEntries(pasts.map(name => [name, results[name.replace('past_key_values', 'present')]]))
    seen += tokens.length
    const scores = (results.logits.data as Float32Array).slice(-words.length)
    tokens = [scores.indexOf(Math.max(...scores))]
    found.push(words[tokens[0]])
  }
  session.dispose()
  return found.join(' ')
}

// What ONNX Runtime 1.32 and OpenVINO 2026 say.
const EXPECTED = 'is . the dims of a value is . the dims of'

describe('a decoder goes on from a prompt', () => {
  test.each([
    ['with caches that have room', 'decoder.onnx', 64, false],
    ['with caches that have room and are extended in place', 'decoder.onnx', 64, true],
    ['with caches that grow', 'decoder.onnx', 0, false],
    ['with caches that grow on the heap', 'decoder.onnx', 0, true],
    ['with variables', 'decoder.xml', 0, false],
    ['with variables, results on the heap', 'decoder.xml', 0, true]
  ])('%s', async (_, model, room, views) => {
    expect((await greedyWords(model, room, views)).split(' ').slice(0, 12).join(' ')).toBe(EXPECTED)
  })
})
