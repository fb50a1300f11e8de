// Tells the species of irises from their measurements in centimetres: node examples/iris.js [5.1 3.5 1.4 0.2 …]
// The model has the form of a converted scikit-learn pipeline: its probabilities are a map for each flower.
import { fileURLToPath } from 'node:url'
import { InferenceSession, Tensor } from 'nodewise'

const MODEL = new URL('../models/iris.onnx', import.meta.url)
const FEATURES = ['sepal length', 'sepal width', 'petal length', 'petal width']

/**
 * @param {number[][]} flowers length and width of sepal and petal of each
 * @returns {Promise<{ species: string, probabilities: ReadonlyMap<string, number> }[]>}
 */
export async function classify(flowers) {
  const session = await InferenceSession.create(MODEL)
  const X = new Tensor('float32', flowers.flat(), [flowers.length, FEATURES.length])
  const { output_label, output_probability } = await session.run({ X })
  return output_probability.values.map(({ entries }, i) => ({ species: output_label.data[i], probabilities: entries }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2).map(Number)
  const numbers = given.length > 0 ? given : [5.1, 3.5, 1.4, 0.2, 6, 2.7, 5.1, 1.6]
  if (numbers.length % FEATURES.length !== 0 || numbers.some(Number.isNaN))
    throw new Error(`${FEATURES.join(', ')} of each flower are needed`)
  const flowers = Array.from({ length: numbers.length / FEATURES.length }, (_, i) =>
    numbers.slice(i * FEATURES.length, (i + 1) * FEATURES.length)
  )
  for (const { species, probabilities } of await classify(flowers)) {
    const shares = [...probabilities].map(([name, share]) => `${name} ${(100 * share).toFixed(1)} %`)
    console.log(`${species} (${shares.join(', ')})`)
  }
}
