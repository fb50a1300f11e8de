// What is run of transformers.js, in Node and in a page: a task, a model of make.mjs, what it is given.

/** A picture of colours that run into one another. */
function picture(RawImage, width, height) {
  const pixels = Uint8ClampedArray.from({ length: width * height * 3 }, (_, i) => {
    const [x, y, channel] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3]
    return 128 + 100 * Math.sin((x * (channel + 1)) / 9) * Math.cos((y * (3 - channel)) / 11)
  })
  return new RawImage(pixels, width, height, 3)
}

/** A tone that rises. */
const sound = seconds =>
  Float32Array.from({ length: seconds * 16000 }, (_, i) => 0.4 * Math.sin((i / 16000) * (600 + i / 40)))

/** Pictures of the models' sizes: who scales them (sharp in Node, a canvas in a page) decides their numbers. */
const [SQUARE, WIDE] = [
  [64, 64],
  [96, 64]
]

const LONG = 'The cat sat on the mat. Anna lives in Berlin, and the dog is red.'

/** Each: task, model, what it is called with (of the module of transformers.js), options of the model. */
export const PIPELINES = [
  ['feature-extraction', 'bert', () => [['the cat sat on the mat.', 'hello'], { pooling: 'mean', normalize: true }]],
  ['feature-extraction', 'bert-int8', () => [['the cat sat.', 'hello'], { pooling: 'cls' }], { dtype: 'q8' }],
  ['text-classification', 'sentiment', () => [['the cat was red', 'hello world'], { top_k: 2 }]],
  ['token-classification', 'entities', () => ['anna lives in berlin and works for acme.']],
  ['fill-mask', 'mask', () => ['the [MASK] sat on the mat.', { top_k: 3 }]],
  [
    'zero-shot-classification',
    'entailment',
    () => ['the dog works in berlin', ['politics', 'sport', 'travel'], { multi_label: true }]
  ],
  ['question-answering', 'answers', () => ['where is anna?', 'anna lives in berlin.']],
  ['text-generation', 'gpt2', () => ['the cat', { max_new_tokens: 12 }]],
  ['text-generation', 'gpt2', () => [['the cat', 'a dog sat on the'], { max_new_tokens: 6 }]],
  ['text-generation', 'llama-int4', () => ['the cat', { max_new_tokens: 12 }], { dtype: 'q4' }],
  ['summarization', 'bart', () => [LONG, { max_new_tokens: 16 }]],
  ['text2text-generation', 'bart', () => [[LONG, 'the cat'], { max_new_tokens: 6 }]],
  ['image-classification', 'vit', ({ RawImage }) => [picture(RawImage, ...SQUARE), { top_k: 5 }]],
  ['image-classification', 'resnet', ({ RawImage }) => [picture(RawImage, ...SQUARE), { top_k: 5 }]],
  ['object-detection', 'detr', ({ RawImage }) => [picture(RawImage, ...WIDE), { threshold: 0.1 }]],
  ['automatic-speech-recognition', 'whisper', () => [sound(2), { language: 'en', max_new_tokens: 12 }]],
  ['automatic-speech-recognition', 'whisper', () => [sound(4), { return_timestamps: true, max_new_tokens: 12 }]],
  ['automatic-speech-recognition', 'wav2vec2', () => [sound(1)]]
].map(([task, model, inputs, options = {}]) => ({ task, model, inputs, options: { dtype: 'fp32', ...options } }))

/** Notes all outputs of all runs of sessions from now on; returns where they are noted. */
function watch(InferenceSession) {
  const seen = []
  const { run } = InferenceSession.prototype
  InferenceSession.prototype.run = async function (...args) {
    const outputs = await run.apply(this, args)
    for (const [name, { type, dims, data }] of Object.entries(outputs))
      seen.push({ name, type, dims: [...dims], data: Array.from(data, Number) })
    return outputs
  }
  return seen
}

const plain = value =>
  JSON.parse(JSON.stringify(value, (_, each) => (each?.ort_tensor ? { dims: each.dims, data: [...each.data] } : each)))

/**
 * Runs the pipelines whose task and model fit the filter; gives for each what came out and what sessions gave.
 * @param {object} transformers the module
 * @param {Function} InferenceSession the class whose runs transformers.js starts
 */
export async function runPipelines(transformers, InferenceSession, filter = /./) {
  const seen = watch(InferenceSession)
  const reports = []
  for (const { task, model, inputs, options } of PIPELINES.filter(each => filter.test(`${each.task} ${each.model}`))) {
    const report = { task, model }
    reports.push(report)
    try {
      const run = await transformers.pipeline(task, model, options)
      report.result = plain(await run(...inputs(transformers)))
      await run.dispose()
    } catch (error) {
      report.error = String(error?.message ?? error)
    }
    report.outputs = seen.splice(0)
  }
  return reports
}
