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
  }, 60_000)

  test('a line of text is read from an image', async () => {
    const { readLine } = await import('../../examples/read-line.js')
    expect(await readLine(file('line.png'))).toBe('Gathers move memory')
  }, 60_000)
})
