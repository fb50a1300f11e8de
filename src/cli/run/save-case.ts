import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import { makeFolder } from '../../io/folders.ts'
import { writeNpy } from '../../io/npy.ts'
import { saveFiles } from '../../io/save.ts'
import { encodeValue, isOnnxValue } from '../../onnx/write/values.ts'
import { isTensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { neededInputs } from '../inputs/inputs.ts'
import { statOf } from '../stat.ts'
import { isStream } from '../streams.ts'
import { DATA_SET } from '../test/cases.ts'

/**
 * Writes a case for `nodewise test`: the model, and a data set of inputs and outputs, as the ONNX standard lays them
 * out. A folder that has the model gets one data set more.
 * @throws NodewiseError `bad-usage` where the folder has another model, or an output is none of the model's
 */
export async function saveCase(
  folder: string,
  path: string,
  model: Model,
  feeds: Readonly<Record<string, Value>>,
  outputs: ReadonlyMap<string, Value>
): Promise<void> {
  if (isStream(path) || /^(?:https?|file):/i.test(path))
    badUsage('--save-case takes a model that is a file, so that it can be copied')
  const files = modelFiles(folder, path, model)
  const set = join(folder, `test_data_set_${nextSet(folder)}`)
  const data = [...inputFiles(model, feeds), ...outputFiles(model, outputs)]
  await makeFolder(set).catch((error: Error) => {
    throw new NodewiseError('write-failed', `cannot write: ${error.message}`, { file: set })
  })
  await saveFiles([
    ...files,
    ...data.map(({ name, label, value }) => {
      const bytes = encodedAs(label, value)
      return { path: join(set, `${name}${isOnnxValue(value) ? '.pb' : '.npy'}`), chunks: [bytes] }
    })
  ])
}

interface Part {
  /** `input_0` */
  readonly name: string
  readonly label: string
  readonly value: Value
}

/** Types that ONNX does not have go as their codes into an .npy. */
function encodedAs(label: string, value: Value): Uint8Array {
  if (isOnnxValue(value)) return encodeValue(label, value)
  if (isTensor(value)) return writeNpy(value)
  throw new NodewiseError('type-not-allowed', `"${label}" holds element types that no file of a case has`)
}

/** Files are counted by the inputs that must be given; by all, where one that has a value already is given too. */
function inputFiles(model: Model, feeds: Readonly<Record<string, Value>>): Part[] {
  const needed = neededInputs(model)
  const isOverridden = Object.keys(feeds).some(name => !needed.some(port => port.name === name))
  return (isOverridden ? model.graph.inputs : needed).flatMap((port, i) => {
    const value = feeds[port.name] ?? model.graph.initializers.get(port.value)?.read()
    return value === undefined ? [] : [{ name: `input_${i}`, label: port.name, value }]
  })
}

function outputFiles(model: Model, outputs: ReadonlyMap<string, Value>): Part[] {
  return [...outputs].map(([label, value]) => {
    const index = model.graph.outputs.findIndex(port => port.name === label || port.aliases.includes(label))
    if (index < 0) badUsage(`--save-case: "${label}" is no output of the model, and a case has outputs only`)
    return { name: `output_${index}`, label, value }
  })
}

function nextSet(folder: string): number {
  if (!statOf(folder)?.isDirectory()) return 0
  return Math.max(-1, ...readdirSync(folder).map(name => Number(DATA_SET.exec(name)?.[1] ?? -1))) + 1
}

/** The model and the files with its weights; nothing where the folder has them. */
function modelFiles(folder: string, path: string, model: Model): { path: string; chunks: Uint8Array[] }[] {
  const suffix = model.dialect === 'openvino' ? '.xml' : /\.onnxtxt$/i.test(path) ? '.onnxtxt' : '.onnx'
  const target = join(folder, `model${suffix}`)
  const bytes = readFileSync(path)
  if (statOf(target)?.isFile()) {
    if (!readFileSync(target).equals(bytes))
      badUsage(`--save-case ${folder}: the folder has another ${basename(target)}`)
    return []
  }
  const names = model.dialect === 'openvino' ? [`${basename(path, extname(path))}.bin`] : externalNames(model)
  const beside = names.flatMap(name => {
    const source = join(dirname(path), name)
    if (!statOf(source)?.isFile()) return []
    return [{ path: join(folder, model.dialect === 'openvino' ? 'model.bin' : name), chunks: [readFileSync(source)] }]
  })
  return [...beside, { path: target, chunks: [bytes] }]
}

/** Files of external data that the initializers of a model name. */
function externalNames(model: Model): string[] {
  const names = [...model.graph.initializers.values()].flatMap(({ raw }) =>
    raw === undefined || raw.source.name === model.file ? [] : [raw.source.name]
  )
  return [...new Set(names)]
}
