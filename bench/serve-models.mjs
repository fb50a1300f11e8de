// Models that load is put on, and requests for them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { elements } from './content.mjs'
import { writeOnnx } from './onnx.mjs'

/** Sizes of the layers of each model: 320, 540 thousand and 19 million weights. */
export const LAYERS = { small: [16, 16, 4], medium: [256, 1024, 256, 64], large: [512, 4096, 4096, 64] }

/**
 * Writes a model of dense layers into a repository, and a request for it beside.
 * @param {string} folder of the repository
 * @param {string} name
 * @param {readonly number[]} sizes of the layers
 * @returns {string} the file of the request
 */
export function writeModel(folder, name, sizes) {
  mkdirSync(join(folder, name, '1'), { recursive: true })
  const nodes = []
  const initializers = []
  sizes.slice(1).forEach((size, i) => {
    const count = sizes[i] * size
    const bytes = Buffer.from(elements('float32', count, i + 1).buffer)
    initializers.push({ name: `w${i}`, type: 'float32', dims: [sizes[i], size], bytes })
    nodes.push({ op: 'MatMul', inputs: [i === 0 ? 'x' : `r${i - 1}`, `w${i}`], outputs: [`m${i}`] })
    nodes.push({ op: 'Tanh', inputs: [`m${i}`], outputs: [`r${i}`] })
  })
  const last = sizes.length - 2
  writeOnnx(join(folder, name, '1/model.onnx'), {
    inputs: [{ name: 'x', type: 'float32', dims: ['n', sizes[0]] }],
    outputs: [{ name: `r${last}`, type: 'float32', dims: ['n', sizes.at(-1)] }],
    nodes,
    initializers
  })
  const data = Array.from({ length: sizes[0] }, (_, i) => ((i * 37) % 100) / 100)
  const request = join(folder, `${name}.json`)
  writeFileSync(request, JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1, sizes[0]], data }] }))
  return request
}
