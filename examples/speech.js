// Finds the speech in a WAV file: node examples/speech.js [FILE.wav]
// The model (Silero VAD) looks at 32 ms at a time; what it returns as state goes into the next run.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import wav from 'node-wav'
import { InferenceSession, Tensor } from 'nodewise'

const MODEL = new URL('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx', import.meta.url)
const RATE = 16000
/** New samples of each run, and samples of the run before that go in front of them. */
const WINDOW = 512
const CONTEXT = 64
/** Shorter pauses belong to the speech around them. */
const PAUSE = 0.3

/**
 * @param {string} path a WAV file of 16 kHz; its first channel is heard
 * @returns {Promise<{ start: number, end: number }[]>} where speech is, in seconds
 */
export async function findSpeech(path) {
  const {
    sampleRate,
    channelData: [samples]
  } = wav.decode(readFileSync(path))
  if (sampleRate !== RATE) throw new Error(`${path} has ${sampleRate} samples a second; ${RATE} are needed`)
  const session = await InferenceSession.create(MODEL)
  const sr = new Tensor('int64', [BigInt(RATE)], [])
  let state = new Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
  const heard = []
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    const input = new Float32Array(CONTEXT + WINDOW)
    input.set(samples.subarray(Math.max(0, at - CONTEXT), at + WINDOW), at === 0 ? CONTEXT : 0)
    const { output, stateN } = await session.run({ input: new Tensor('float32', input, [1, input.length]), state, sr })
    state = stateN
    if (output.data[0] > 0.5) heard.push({ start: at / RATE, end: (at + WINDOW) / RATE })
  }
  return joined(heard)
}

function joined(windows) {
  const segments = []
  for (const { start, end } of windows) {
    const last = segments.at(-1)
    if (last && start - last.end < PAUSE) last.end = end
    else segments.push({ start, end })
  }
  return segments
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? fileURLToPath(new URL('speech.wav', import.meta.url))
  for (const { start, end } of await findSpeech(file))
    console.log(`speech from ${start.toFixed(2)} s to ${end.toFixed(2)} s`)
}
