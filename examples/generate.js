// Writes on from some words, a word at a time: node examples/generate.js [--model FILE] [--tokens N] [--temperature T]
// [--top K] [--seed N] WORDS…
// The model is a small decoder, by default an ONNX file that is fed its cache of keys and values; models/decoder.xml is
// the same as an IR, which keeps them in variables. With temperature 0 the most likely word is taken each time.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { InferenceSession, Tensor } from 'nodewise'

const MODELS = new URL('../models/', import.meta.url)
/** Rows of the caches: as many tokens as the model can see. */
const ROOM = 128

/** A decoder of either dialect, and the tokens that it has seen. */
export class Decoder {
  #session
  #caches
  #seen = 0

  /**
   * @param {string | URL} model an .onnx with inputs `past_key_values.*` and outputs `present.*`, or an .xml with
   *   variables
   * @param {import('nodewise').SessionOptions} [options]
   */
  static async open(model, options) {
    return new Decoder(await InferenceSession.create(model, options))
  }

  constructor(session) {
    this.#session = session
    this.reset()
  }

  /** Forgets the text. */
  reset() {
    const { inputMetadata } = this.#session
    const pasts = inputMetadata.filter(({ name }) => name.startsWith('past_key_values.'))
    // A dim without a number is the room of the cache.
    this.#caches = pasts.map(({ name, type, shape }) => {
      const dims = shape.map(dim => (typeof dim === 'number' ? dim : ROOM))
      const size = dims.reduce((a, b) => a * b)
      return {
        past: name,
        present: name.replace('past_key_values', 'present'),
        tensor: new Tensor(type, new Float32Array(size), dims)
      }
    })
    this.#session.resetState()
    this.#seen = 0
  }

  /**
   * Reads tokens behind those before.
   * @param {readonly number[]} tokens
   * @returns {Promise<Float32Array>} a score for each token that may follow
   */
  async read(tokens) {
    const start = this.#seen
    this.#seen += tokens.length
    const int64s = values => new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length])
    const feeds = { input_ids: int64s(tokens), position_ids: int64s(tokens.map((_, i) => start + i)) }
    if (this.#session.inputNames.includes('attention_mask'))
      feeds.attention_mask = int64s(new Array(this.#seen).fill(1))
    for (const { past, tensor } of this.#caches) feeds[past] = tensor
    // As views the caches stay where they are: the next run writes the rows of its tokens behind the others.
    const results = await this.#session.run(feeds, { views: true })
    for (const cache of this.#caches) cache.tensor = results[cache.present]
    const { data, dims } = results.logits
    return data.slice(data.length - dims[2])
  }

  async close() {
    await this.#session.release()
  }
}

/** The most likely token. */
export const greedy = scores => scores.indexOf(scores.reduce((a, b) => Math.max(a, b)))

/**
 * Draws a token.
 * @param {{ temperature: number, top: number, random: () => number }} how only the `top` most likely tokens are drawn;
 *   temperatures below 1 prefer those with high scores
 */
export function sampled(scores, { temperature, top, random }) {
  const best = [...scores.keys()].sort((a, b) => scores[b] - scores[a]).slice(0, top)
  const weights = best.map(token => Math.exp((scores[token] - scores[best[0]]) / temperature))
  let left = random() * weights.reduce((a, b) => a + b)
  const at = weights.findIndex(weight => (left -= weight) < 0)
  return best[at < 0 ? 0 : at]
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomSource(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Tokens that follow a prompt, as they come.
 * @param {Decoder} decoder
 * @param {readonly number[]} prompt
 * @param {{ count: number, choose: (scores: Float32Array) => number }} how
 */
export async function* generate(decoder, prompt, { count, choose }) {
  let tokens = prompt
  for (let i = 0; i < count; i++) {
    const token = choose(await decoder.read(tokens))
    yield token
    tokens = [token]
  }
}

/** The words of the example's models; a token is the number of a word. */
export const loadWords = async () => JSON.parse(await readFile(new URL('decoder.json', MODELS), 'utf8')).words

async function main() {
  const option = value => ({ type: 'string', default: `${value}` })
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      model: option(fileURLToPath(new URL('decoder.onnx', MODELS))),
      tokens: option(24),
      temperature: option(0),
      top: option(5),
      seed: option(1)
    }
  })
  const [count, temperature, top, seed] = [values.tokens, values.temperature, values.top, values.seed].map(Number)
  const words = await loadWords()
  const prompt = (positionals.length > 0 ? positionals.join(' ').split(/\s+/) : ['a', 'graph']).map(word => {
    const token = words.indexOf(word)
    if (token < 0) throw new Error(`"${word}" is none of the words: ${words.join(' ')}`)
    return token
  })
  if (!(prompt.length + count <= ROOM))
    throw new Error(`the model sees ${ROOM} words; ${prompt.length + count} are asked for`)
  const random = randomSource(seed)
  const choose = temperature > 0 ? scores => sampled(scores, { temperature, top, random }) : greedy
  const decoder = await Decoder.open(values.model)
  process.stdout.write(prompt.map(token => words[token]).join(' '))
  const start = performance.now()
  for await (const token of generate(decoder, prompt, { count, choose })) process.stdout.write(` ${words[token]}`)
  process.stdout.write('\n')
  console.error(`${Math.round((1000 * count) / (performance.now() - start))} words a second`)
  await decoder.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
