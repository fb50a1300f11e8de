import type { LoadOptions, Model, SessionOptions } from 'nodewise'
import { NodewiseError } from 'nodewise'
import { type InferenceSession as Common, env } from 'onnxruntime-common'
import { declaredOf, type GraphPort } from '../graph/graph.ts'
import { refuseUnknownOptions } from '../suggest.ts'

/** Options of Nodewise's own, which a program may give beside those of `onnxruntime-common`. */
const LOAD = ['dataRoot', 'externalData', 'limits', 'name'] as const
const SESSION = ['maxMemory', 'ops', 'precision', 'seed', 'threads'] as const

/**
 * Options of `onnxruntime-common` that choose how its engines work, and what they log. Every value that onnxruntime
 * takes is taken; none changes what is computed here.
 */
const WITHOUT_EFFECT = [
  'enableCpuMemArena',
  'enableMemPattern',
  'executionProviders',
  'extra',
  'interOpNumThreads',
  'logId',
  'logVerbosityLevel'
]

/** Options of which onnxruntime takes a few values only. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  graphOptimizationLevel: ['disabled', 'basic', 'extended', 'layout', 'all'],
  executionMode: ['sequential', 'parallel'],
  logSeverityLevel: [0, 1, 2, 3, 4]
}

/** Options that ask for what is not there, and what to do instead. */
const REFUSED: Readonly<Record<string, string>> = {
  optimizedModelFilePath: 'no optimized model is written; `nodewise convert --simplify` writes one',
  enableGraphCapture: 'there are no graphs of a GPU to capture'
}

const KNOWN: ReadonlySet<string> = new Set([
  ...LOAD,
  ...SESSION,
  ...WITHOUT_EFFECT,
  ...Object.keys(VALUES),
  ...Object.keys(REFUSED),
  'enableProfiling',
  'freeDimensionOverrides',
  'intraOpNumThreads',
  'preferredOutputLocation',
  'profileFilePrefix'
])

const RUN: ReadonlySet<string> = new Set(['extra', 'logSeverityLevel', 'logVerbosityLevel', 'tag', 'terminate'])

/** As in onnxruntime-web, an option that is null is one that is not given. */
export const withoutNull = (options: Common.SessionOptions): Common.SessionOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))

/**
 * The options of Nodewise that follow from those of `onnxruntime-common`.
 * @throws NodewiseError `bad-usage` for options that do not exist, values that onnxruntime refuses, and what is not
 *   there: optimized models as files, graph capture, outputs on a GPU
 */
export function ownOptions(options: Common.SessionOptions): { load: LoadOptions; session: SessionOptions } {
  refuseUnknownOptions(options, KNOWN)
  const given = options as Readonly<Record<string, unknown>>
  checkValues(given)
  for (const [name, why] of Object.entries(REFUSED))
    if (given[name]) throw new NodewiseError('bad-usage', `\`${name}\`: ${why}`)
  checkLocations(options.preferredOutputLocation)
  const own = (names: readonly string[]): object =>
    Object.fromEntries(names.flatMap(name => (given[name] === undefined ? [] : [[name, given[name]]])))
  const threads = options.intraOpNumThreads || threadsOfPage()
  const load: LoadOptions = own(LOAD)
  return {
    load: { ...load, ...(Array.isArray(load.externalData) && { externalData: load.externalData.map(unshared) }) },
    session: { ...(threads && { threads }), ...own(SESSION) }
  }
}

/** As in onnxruntime-web, what is no count is none: half of three cores, 0. */
function threadsOfPage(): number | undefined {
  const { numThreads } = env.wasm
  return Number.isSafeInteger(numThreads) && Number(numThreads) > 0 ? numThreads : undefined
}

type External = NonNullable<LoadOptions['externalData']>[number]

/** A file in shared memory, which onnxruntime-web takes, as an array over it. */
const unshared = (file: External): External =>
  typeof file === 'object' && isShared(file?.data) ? { ...file, data: new Uint8Array(file.data) } : file

/** A page without the headers that memory is shared by has no name for it. */
const isShared = (data: unknown): data is SharedArrayBuffer =>
  typeof SharedArrayBuffer === 'function' && data instanceof SharedArrayBuffer

/** @throws NodewiseError `bad-usage` for options that do not exist */
export function checkRunOptions(options: Common.RunOptions): void {
  refuseUnknownOptions(options, RUN)
  checkValues(options as Readonly<Record<string, unknown>>)
}

function checkValues(options: Readonly<Record<string, unknown>>): void {
  for (const [name, values] of Object.entries(VALUES))
    if (options[name] !== undefined && !values.includes(options[name]))
      throw new NodewiseError('bad-usage', `\`${name}\` is one of ${values.join(', ')}`)
}

function checkLocations(preferred: Common.SessionOptions['preferredOutputLocation']): void {
  const locations = typeof preferred === 'object' ? Object.values(preferred) : [preferred ?? 'cpu']
  for (const location of locations)
    if (location !== 'cpu' && location !== 'cpu-pinned')
      throw new NodewiseError('bad-usage', `\`preferredOutputLocation\`: no output lies in a ${location}`)
}

/**
 * The model with sizes in place of names of its inputs' and outputs' dims. As in onnxruntime, a name that none has
 * changes nothing.
 * @throws NodewiseError `bad-usage` for what is no size
 */
export function withDims(model: Model, sizes: Readonly<Record<string, number>> = {}): Model {
  if (Object.keys(sizes).length === 0) return model
  for (const [name, size] of Object.entries(sizes))
    if (!Number.isSafeInteger(size) || size < 0)
      throw new NodewiseError('bad-usage', `\`freeDimensionOverrides\`: the dim "${name}" cannot have the size ${size}`)
  const { graph } = model
  const sized = (port: GraphPort): GraphPort => {
    const declared = declaredOf(graph, port)
    if (declared?.kind !== 'tensor' || !declared.dims) return port
    const dims = declared.dims.map(dim => (typeof dim === 'string' && Object.hasOwn(sizes, dim) ? sizes[dim] : dim))
    return { ...port, declared: { ...declared, dims } }
  }
  return { ...model, graph: { ...graph, inputs: graph.inputs.map(sized), outputs: graph.outputs.map(sized) } }
}
