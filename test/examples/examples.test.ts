import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const file = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

// The models are dependencies of examples/, which `npm ci --prefix examples` installs, as .ci/run does.
describe.runIf(existsSync(file('node_modules')))('examples', () => {
  test('the speech in a recording of two sentences is found where it is', async () => {
    const { findSpeech } = await import('../../examples/speech.js')
    const segments = await findSpeech(file('speech.wav'))
    expect(segments.length).toBe(2)
    const ends = segments.flatMap(({ start, end }) => [start, end])
    // Where the sentences were put into the recording, and what ONNX Runtime computes.
    const expected = [1.024, 3.424, 5.024, 6.752]
    ends.forEach((seconds, i) => expect(Math.abs(seconds - expected[i])).toBeLessThan(0.05))
  })

  test('a line of text is read from an image', async () => {
    const { readLine } = await import('../../examples/read-line.js')
    expect(await readLine(file('line.png'))).toBe('Gathers move memory')
  })

  test('irises are told apart, and each gets a map of probabilities', async () => {
    const { classify } = await import('../../examples/iris.js')
    const flowers = await classify([
      [5.1, 3.5, 1.4, 0.2],
      [5.7, 2.8, 4.1, 1.3],
      [6.3, 3.3, 6, 2.5]
    ])
    expect(flowers.map(({ species }) => species)).toEqual(['setosa', 'versicolor', 'virginica'])
    // What LogisticRegression of scikit-learn 1.9 says.
    expect(flowers[0].probabilities.get('setosa')).toBeCloseTo(0.98469, 4)
    expect([...flowers[2].probabilities.keys()]).toEqual(['setosa', 'versicolor', 'virginica'])
  })

  test('a decoder writes on from some words, the same in both dialects', async () => {
    const { Decoder, generate, greedy, loadWords, randomSource, sampled } = await import('../../examples/generate.js')
    const words = await loadWords()
    const prompt = ['a', 'graph'].map(word => words.indexOf(word))
    const continued = async (model: string, choose: (scores: Float32Array) => number): Promise<string> => {
      const decoder = await Decoder.open(file(`../models/${model}`))
      const found: string[] = []
      for await (const token of generate(decoder, prompt, { count: 10, choose })) found.push(words[token])
      await decoder.close()
      return found.join(' ')
    }
    for (const model of ['decoder.onnx', 'decoder.xml']) {
      expect(await continued(model, greedy)).toBe('is . the dims of a value is . the')
      const random = randomSource(3)
      const drawn = await continued(model, scores => sampled(scores, { temperature: 1, top: 5, random }))
      expect(drawn).toBe('value is . the a value follow from the file')
    }
  })
})

test('rows of a table of 10 GB on a server are looked up in a few requests', async () => {
  const { lookUp } = await import('../../examples/remote-table/look-up.js')
  const { opening, lookingUp, onceMore, isRight } = await lookUp(1)
  expect(isRight).toBe(true)
  expect(opening.requests).toBeLessThanOrEqual(3)
  expect(opening.bytes).toBeLessThan(100_000)
  expect(lookingUp.requests).toBeLessThanOrEqual(10)
  expect(lookingUp.bytes).toBeLessThan(2_000_000)
  expect(onceMore.requests).toBe(0)
})
