// Trains and writes models/language.onnx, which tells the language of words: softmax regression over bags of words.
// The graph gathers a row of weights for each word. Unknown words have a row of zeros.
import { node, port, tensor, writeOnnx } from './onnx.mjs'
import { SENTENCES } from './sentences.mjs'

const LANGUAGES = Object.keys(SENTENCES)
const EPOCHS = 300
const RATE = 0.1
const DECAY = 1e-4

function train() {
  const examples = LANGUAGES.flatMap((language, label) =>
    SENTENCES[language].map(text => ({ label, words: text.split(' ') }))
  )
  // Row 0 is the row of all unknown words.
  const vocabulary = ['', ...new Set(examples.flatMap(example => example.words))]
  const row = new Map(vocabulary.map((word, i) => [word, i]))
  const weights = vocabulary.map(() => new Float64Array(LANGUAGES.length))
  const bias = new Float64Array(LANGUAGES.length)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { label, words } of examples) {
      const scores = bias.map((value, k) => value + words.reduce((sum, word) => sum + weights[row.get(word)][k], 0))
      const exps = scores.map(score => Math.exp(score - Math.max(...scores)))
      const total = exps.reduce((a, b) => a + b)
      exps.forEach((value, k) => {
        const step = RATE * ((k === label ? 1 : 0) - value / total)
        bias[k] += step
        for (const word of words) weights[row.get(word)][k] += step - RATE * DECAY * weights[row.get(word)][k]
      })
    }
  }
  return { vocabulary, weights, bias }
}

export function writeLanguageModel(path) {
  const { vocabulary, weights, bias } = train()
  const [words, languages] = [vocabulary.length, LANGUAGES.length]
  writeOnnx(path, {
    name: 'language',
    opset: 19,
    doc: 'Tells the language of words, given in lower case: English, German, French, Spanish or Italian.',
    inputs: [port('words', 'string', ['n'])],
    outputs: [port('language', 'string', []), port('probability', 'float', [languages])],
    initializers: [
      tensor('vocabulary', 'string', [1, words], vocabulary),
      tensor(
        'weights',
        'float',
        [words, languages],
        weights.flatMap(row => [...row])
      ),
      tensor('bias', 'float', [languages], [...bias]),
      tensor('languages', 'string', [languages], LANGUAGES),
      tensor('last', 'int64', [1], [1]),
      tensor('first', 'int64', [1], [0])
    ],
    nodes: [
      node('Unsqueeze', ['words', 'last'], ['column']),
      node('Equal', ['column', 'vocabulary'], ['same']),
      node('Cast', ['same'], ['match'], { to: 1 }),
      node('ArgMax', ['match'], ['ids'], { axis: 1, keepdims: 0 }),
      node('Gather', ['weights', 'ids'], ['rows']),
      node('ReduceSum', ['rows', 'first'], ['votes'], { keepdims: 0 }),
      node('Add', ['votes', 'bias'], ['scores']),
      node('Softmax', ['scores'], ['probability'], { axis: 0 }),
      node('ArgMax', ['scores'], ['best'], { axis: 0, keepdims: 0 }),
      node('Gather', ['languages', 'best'], ['language'])
    ]
  })
}
