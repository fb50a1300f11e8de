// Trains and writes models/iris.onnx, which tells three species of iris apart: logistic regression on standardized
// measurements, in the form in which scikit-learn's pipelines are converted (skl2onnx): Scaler, LinearClassifier,
// Normalizer, ZipMap.
import { IRISES } from './irises.mjs'
import { mapsPort, node, port, writeOnnx } from './onnx.mjs'

const SPECIES = Object.keys(IRISES)
const EPOCHS = 2000
const RATE = 0.5
/** As LogisticRegression with C=1: half the squared weights are added to the loss of all flowers. */
const DECAY = 1

const mean = values => values.reduce((a, b) => a + b) / values.length

function train() {
  const flowers = SPECIES.flatMap((species, label) => IRISES[species].map(x => ({ x, label })))
  const columns = flowers[0].x.map((_, i) => flowers.map(({ x }) => x[i]))
  const offset = columns.map(mean)
  const scale = columns.map((column, i) => 1 / Math.sqrt(mean(column.map(value => (value - offset[i]) ** 2))))
  const rows = flowers.map(({ x, label }) => ({ z: x.map((value, i) => (value - offset[i]) * scale[i]), label }))
  const weights = SPECIES.map(() => new Float64Array(offset.length))
  const bias = new Float64Array(SPECIES.length)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const slopes = weights.map(row => row.map(weight => DECAY * weight))
    const lifts = new Float64Array(SPECIES.length)
    for (const { z, label } of rows) {
      const scores = weights.map((row, k) => z.reduce((sum, value, i) => sum + value * row[i], bias[k]))
      const exps = scores.map(score => Math.exp(score - Math.max(...scores)))
      const total = exps.reduce((a, b) => a + b)
      exps.forEach((value, k) => {
        const error = value / total - (k === label ? 1 : 0)
        lifts[k] += error
        z.forEach((feature, i) => {
          slopes[k][i] += error * feature
        })
      })
    }
    SPECIES.forEach((_, k) => {
      bias[k] -= (RATE * lifts[k]) / rows.length
      slopes[k].forEach((slope, i) => {
        weights[k][i] -= (RATE * slope) / rows.length
      })
    })
  }
  return { offset, scale, weights, bias }
}

export function writeIrisModel(path) {
  const { offset, scale, weights, bias } = train()
  const ml = 'ai.onnx.ml'
  writeOnnx(path, {
    name: 'iris',
    opset: 17,
    domains: { [ml]: 1 },
    doc: 'Tells the species of an iris by length and width of its sepals and petals in centimetres.',
    inputs: [port('X', 'float', ['n', 4])],
    outputs: [port('output_label', 'string', ['n']), mapsPort('output_probability', 'string', 'float')],
    nodes: [
      node('Scaler', ['X'], ['scaled'], { offset: { floats: offset }, scale: { floats: scale } }, ml),
      node(
        'LinearClassifier',
        ['scaled'],
        ['output_label', 'scores'],
        {
          classlabels_strings: SPECIES,
          coefficients: { floats: weights.flatMap(row => [...row]) },
          intercepts: { floats: [...bias] },
          multi_class: 1,
          post_transform: 'SOFTMAX'
        },
        ml
      ),
      node('Normalizer', ['scores'], ['probabilities'], { norm: 'L1' }, ml),
      node('ZipMap', ['probabilities'], ['output_probability'], { classlabels_strings: SPECIES }, ml)
    ]
  })
}
