// Mutants: the same seed, format and number give the same one, wherever the same corpus lies.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseModel } from './corpus.mjs'
import { gatherCase } from './gather-case.mjs'
import { MODEL_EDITS as IR_MODEL } from './ir-model.mjs'
import { NEUTRAL_EDITS as IR_NEUTRAL, XML_EDITS } from './ir-xml.mjs'
import { MODEL_EDITS as ONNX_MODEL } from './onnx-model.mjs'
import { NEUTRAL_EDITS as ONNX_NEUTRAL, WIRE_EDITS } from './onnx-wire.mjs'
import { randomFrom } from './random.mjs'
import { parseWire, writeWire } from './wire.mjs'
import { parseXml, writeXml } from './xml.mjs'

const FORMATS = {
  onnx: {
    dialect: 'onnx',
    parse: bytes => parseWire(bytes),
    write: root => writeWire(root),
    bytes: WIRE_EDITS,
    model: ONNX_MODEL,
    neutral: ONNX_NEUTRAL
  },
  ir: {
    dialect: 'openvino',
    parse: bytes => parseXml(bytes.toString()),
    write: root => Buffer.from(writeXml(root)),
    bytes: XML_EDITS,
    model: IR_MODEL,
    neutral: IR_NEUTRAL
  }
}
const EDITS = Object.fromEntries(
  Object.entries(FORMATS).map(([format, { bytes, model, neutral }]) => [
    format,
    new Map([...bytes, ...model, ...neutral].map(([, name, edit]) => [name, edit]))
  ])
)

/** How values are found for the inputs of a run. */
export const FILLS = ['given', 'given', 'changed', 'zeros', 'ones', 'small', 'extreme']

/**
 * What is to be done to which model, as plain data: `kind` is `mutant` (anything may happen but what must not),
 * `neutral` (the answer
 * must be that of
 * the base) or `gather` (the answer must be the reference's).
 * @param {{ name: string, path: string, size: number }[]} models
 * @param {string} [only] the kind, where it is not to be drawn
 */
export function planMutant(seed, format, index, models, only) {
  const random = randomFrom(seed, format, index)
  const drawn = random.weighted([
    [84, 'mutant'],
    [4, 'neutral'],
    [12, 'gather']
  ])
  const kind = only ?? drawn
  const plan = {
    seed,
    format,
    index,
    kind,
    base: pickBase(random, models),
    donor: random.pick(models),
    fill: { how: random.pick(FILLS), seed: random.seed() }
  }
  if (kind === 'gather') return { ...plan, edits: [], gather: random.seed() }
  const { bytes, model, neutral } = FORMATS[format]
  const count =
    kind === 'neutral'
      ? random.between(1, 3)
      : random.weighted([
          [5, 1],
          [3, 2],
          [2, 3],
          [1, 5]
        ])
  const tables = kind === 'neutral' ? [neutral] : [bytes, model, model]
  const edits = Array.from({ length: count }, () => ({
    name: random.weighted(random.pick(tables).map(([weight, name]) => [weight, name])),
    seed: random.seed()
  }))
  return { ...plan, edits, ...(kind === 'neutral' && { fill: { how: 'given', seed: 0 } }) }
}

/** Small models make quick mutants, in which an edit is more likely to matter. */
const pickBase = (random, models) =>
  Array.from({ length: random.chance(0.8) ? 4 : 1 }, () => random.pick(models)).reduce((a, b) =>
    a.size <= b.size ? a : b
  )

/**
 * The files of a plan: `{ model, bin?, feeds?, expect?, told }`.
 * @param ops operators of both dialects: `{ name, domain, since }`, by dialect
 */
export function buildMutant(plan, ops) {
  const { dialect, parse, write } = FORMATS[plan.format]
  if (plan.kind === 'gather') return gatherCase(randomFrom(plan.gather), dialect)
  const base = baseModel(plan.base)
  const mutant = {
    root: parse(base.model),
    bin: base.bin,
    after: [],
    ops: ops[dialect],
    donor: () => parse(baseModel(plan.donor).model),
    input: i => readInput(base.data, i, plan.format)
  }
  for (const { name, seed } of plan.edits) EDITS[plan.format].get(name)(mutant, randomFrom(seed))
  const model = mutant.after.reduce((bytes, edit) => edit(bytes), write(mutant.root))
  return { model, bin: mutant.bin, told: `${plan.base.name}: ${plan.edits.map(({ name }) => name).join(', ')}` }
}

/** An input of a base as it can stand in a model: a TensorProto's tree, or the bytes of an array. */
function readInput(folder, i, format) {
  const path = folder && join(folder, `input_${i}.${format === 'onnx' ? 'pb' : 'npy'}`)
  if (!path || !existsSync(path)) return undefined
  const bytes = readFileSync(path)
  if (format === 'ir') return bytes.subarray(10 + bytes.readUInt16LE(8))
  try {
    return parseWire(bytes, 'onnx.TensorProto')
  } catch {
    // A sequence or an optional value, which no initializer can be.
    return undefined
  }
}
