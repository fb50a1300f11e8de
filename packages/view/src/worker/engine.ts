/** The worker that reads, checks and runs models. */
import {
  convert,
  fix,
  isTensor,
  load,
  type Model,
  modelFiles,
  NodewiseError,
  type Tensor,
  writeNpy,
  writeNpz
} from 'nodewise'
import type { Columns } from '../graph/columns.ts'
import type { Change } from './changing.ts'
import { type Compared, comparedOf, comparison } from './comparing.ts'
import {
  constantDetails,
  detailsOf,
  type NodeDetails,
  readersOf,
  tensorDetails,
  type TensorDetails,
  withAttribute
} from './details.ts'
import { type Facts, factsOf, type OpenDim, openDims, type Sizes } from './facts.ts'
import { type Flat, flatten } from './flatten.ts'
import { type GatherView, gatherView } from './gathering.ts'
import { type InputField, inputFields, type PictureFilling, pictureOf } from './inputs.ts'
import type { Handed } from './layout.ts'
import { numbersOf, statisticsOf } from './numbers.ts'
import type { Pixels } from './pictures.ts'
import { readReport, type ShownReport } from './report.ts'
import { type Compares, reportOf, type ReportRequest } from './reporting.ts'
import { Moved, serve, tell } from './rpc.ts'
import { type Outcome, Running, type RunRequest } from './running.ts'
import { besideOf, contentOf, type GivenFile, wholeOf } from './sources.ts'
import { unsupportedOps } from './unsupported.ts'

/** What the page shows of a model as a whole. */
export interface Overview {
  readonly file: string
  readonly format: 'ONNX' | 'OpenVINO IR'
  readonly producer: string
  readonly irVersion: number
  readonly opsets: readonly string[]
  readonly nodes: number
  readonly parameters: number
  readonly weightBytes: number
  readonly metadata: readonly (readonly [string, string])[]
  readonly notes: readonly string[]
  readonly inputs: readonly InputField[]
  readonly openDims: readonly OpenDim[]
  readonly ops: readonly (readonly [string, number])[]
  readonly unsupported: readonly string[]
}

/** A model that has been opened. */
export interface Opened {
  readonly overview: Overview
  readonly columns: Columns
  /** What the worker that places calls the columns. */
  readonly handed: number
  readonly milliseconds: number
}

/** A picture as the model gets it. */
export interface ShownPicture {
  readonly image: ImageData
  readonly dims: readonly number[]
  readonly least: number
  readonly most: number
}

/** A file to be saved. */
export interface SavedFile {
  readonly name: string
  readonly content: Blob
}

interface Current {
  readonly model: Model
  readonly flat: Flat
  readers?: ReadonlyMap<number, readonly number[]>
  running?: Running
  comparing?: AbortController
  compared?: Compares
}

let current: Current | undefined
let layout: MessagePort | undefined

let handedOver = 0

/** Gives columns to the worker that places. @returns the number that they have there */
function handOver(side: Handed['side'], columns: Columns): number {
  layout?.postMessage({ number: ++handedOver, side, columns } satisfies Handed)
  return handedOver
}

const opened = (): Current => {
  if (!current) throw new NodewiseError('bad-usage', 'no model is open')
  return current
}

const methods = {
  /** Takes the channel to the worker that places. */
  connect(port: MessagePort): void {
    layout = port
  },
  /** Opens one model; the files beside it are its weights. */
  async open(files: readonly GivenFile[], main: string): Promise<Opened> {
    const started = performance.now()
    const model = await read(files, main)
    current?.running?.stop()
    current?.comparing?.abort()
    const flat = flatten(model)
    current = { model, flat }
    const handed = handOver('own', flat.columns)
    const milliseconds = performance.now() - started
    return { overview: overviewOf(model, flat), columns: flat.columns, handed, milliseconds }
  },
  facts(sizes?: Sizes): Moved<Facts> {
    const { model, flat } = opened()
    const facts = factsOf(model, flat, sizes)
    return new Moved(facts, [facts.type.buffer, facts.dims.buffer])
  },
  /** What a report of the command says of the open model. */
  report(file: GivenFile): ShownReport {
    const { model, flat } = opened()
    if (file.content.size > MAX_REPORT_BYTES)
      throw new NodewiseError('limit-exceeded', `a report of ${file.content.size} bytes is too large`, {
        file: file.path
      })
    return readReport(wholeOf(file), file.path, model, flat)
  },
  node(record: number): NodeDetails {
    const { model, flat } = opened()
    const readers = (opened().readers ??= readersOf(flat))
    return detailsOf(model, flat, readers, record)
  },
  /** A value as numbers: a constant is read now; another is there if it was kept by the last run. */
  tensor(value: number, plane: number): (TensorDetails & { readonly isPart?: boolean }) | undefined {
    const { flat, running } = opened()
    const constant = flat.constants.get(value)
    if (constant) return constantDetails(constant, plane)
    const made = running?.values.get(value)
    return made && isTensor(made) ? tensorDetails(made, plane) : undefined
  },
  gather(record: number): GatherView | undefined {
    const { flat, running } = opened()
    return running && gatherView(flat, running.values, record)
  },
  async run(request: RunRequest): Promise<Outcome> {
    const now = opened()
    now.running?.stop()
    now.running = new Running(now.model, now.flat, request, tell)
    return now.running.run()
  },
  /** Runs the open model and another on the same inputs; the columns are those of the other one. */
  async compare(
    files: readonly GivenFile[],
    main: string,
    request: RunRequest
  ): Promise<Compared & { readonly columns: Columns; readonly handed: number }> {
    const now = opened()
    now.comparing?.abort()
    now.comparing = new AbortController()
    const { signal } = now.comparing
    const other = await read(files, main)
    const flat = flatten(other)
    const handed = handOver('beside', flat.columns)
    const result = await comparison(now.model, other, request, signal)
    now.compared = { other: other.file, result }
    return { ...comparedOf(result, now.flat, other, flat), columns: flat.columns, handed }
  },
  /** A picture as the model gets it: its pixels, and the tensor that they become. */
  async picture(filling: PictureFilling, field: InputField): Promise<ShownPicture> {
    const { pixels, tensor } = await pictureOf(filling, field)
    const { min: least = 0, max: most = 0 } = statisticsOf(numbersOf(tensor)!)
    return { image: imageOf(pixels), dims: tensor.dims, least, most }
  },
  change(value: number, change: Change): void {
    const { running } = opened()
    if (!running) throw new NodewiseError('bad-usage', 'no run waits')
    running.change(value, change)
  },
  stop: (): void => opened().running?.stop(),
  go: (how: 'step' | 'run'): void => opened().running?.go(how),
  /** The model with true declarations. */
  fixed(): { readonly files: readonly SavedFile[]; readonly changes: number } {
    const { model } = opened()
    const { model: fixed, changed } = fix(model)
    return { files: saved(fixed, fileName(model.file)), changes: changed.length }
  },
  /** The values of the last run that were kept, as an archive of NumPy's. */
  values(): SavedFile {
    const { flat, running } = opened()
    const tensors = new Map<string, Tensor>()
    for (const [value, made] of running?.values ?? []) {
      if (!isTensor(made) || !isStorable(made)) continue
      const name = flat.values.names[value].replace(/[^\w.-]+/g, '_')
      tensors.set(tensors.has(name) ? `${name}_${value}` : name, made)
    }
    return { name: 'values.npz', content: new Blob([writeNpz(tensors).slice()]) }
  },
  /** What is known of the model, and what is seen of it, as one page. */
  reported(request: ReportRequest): SavedFile {
    const content = new Blob([reportOf(opened(), request)], { type: 'text/html' })
    return { name: `${baseName(opened().model.file)}.html`, content }
  },
  /** Records whose node has an attribute with this text in its name or value. */
  withAttribute(text: string): readonly number[] {
    return withAttribute(opened().flat, text)
  },
  /** The model in another format. */
  converted(suffix: '.onnx' | '.xml' | '.onnxtxt'): readonly SavedFile[] {
    const { model } = opened()
    const dialect = suffix === '.xml' ? 'openvino' : 'onnx'
    const said = dialect === model.dialect ? model : convert(model, { dialect }).model
    return saved(said, baseName(model.file) + suffix)
  }
}
export type EngineMethods = typeof methods

/**
 * Workers do not tell how large their heap may grow, so the engine would assume 1 GiB. It is 4 GiB where a machine has
 * as much.
 */
const LIMITS = { structureBytes: 1.5 * 2 ** 30 }

/** Bytes of a report that is read. */
const MAX_REPORT_BYTES = 256 << 20

function imageOf({ width, height, channels, components }: Pixels): ImageData {
  const image = new ImageData(width, height)
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 4; c++)
      image.data[4 * i + c] = c === 3 ? 255 : components[channels === 1 ? i : channels * i + c]
  return image
}

/** NumPy has no bfloat16 and no types of less than a byte. */
function isStorable(tensor: Tensor): boolean {
  try {
    return writeNpy(tensor).length > 0
  } catch {
    return false
  }
}

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const baseName = (path: string): string => fileName(path).replace(/\.[^.]*$/, '')

async function read(files: readonly GivenFile[], main: string): Promise<Model> {
  const own = files.find(({ path }) => path === main)
  if (!own) throw new NodewiseError('missing-file', `${main} is not among the files`)
  const source = contentOf(own)
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  if (/\.xml$/i.test(main)) {
    const name = main.replace(/\.xml$/i, '.bin')
    const bins = files.filter(({ path }) => /\.bin$/i.test(path))
    const bin = bins.find(({ path }) => path === name) ?? (bins.length === 1 ? bins[0] : undefined)
    return load(bin ? { xml: source, bin: contentOf(bin) } : { xml: source }, { name: main, limits: LIMITS })
  }
  const externalData = files
    .filter(file => file !== own)
    .map(file => ({
      path: file.path.startsWith(folder) ? file.path.slice(folder.length) : file.path,
      data: besideOf(file)
    }))
  return load(source, { name: main, limits: LIMITS, externalData })
}

function overviewOf(model: Model, flat: Flat): Overview {
  const { columns } = flat
  const counts = new Map<string, number>()
  columns.type.forEach((type, record) => {
    if (columns.kind[record] === 0) counts.set(columns.types[type], (counts.get(columns.types[type]) ?? 0) + 1)
  })
  const isOnnx = model.dialect === 'onnx'
  return {
    file: model.file,
    format: isOnnx ? 'ONNX' : 'OpenVINO IR',
    producer: model.producer,
    irVersion: model.irVersion,
    opsets: [...model.opsets].map(([domain, version]) => (isOnnx ? `${domain} ${version}` : domain)),
    nodes: [...counts.values()].reduce((sum, count) => sum + count, 0),
    parameters: model.parameters,
    weightBytes: model.weightBytes,
    metadata: [...model.metadata].slice(0, 60).map(([key, value]) => [key, value.slice(0, 400)] as const),
    notes: model.notes,
    inputs: inputFields(model),
    openDims: openDims(model),
    ops: [...counts].sort(([, a], [, b]) => b - a),
    unsupported: unsupportedOps(model, flat)
  }
}

const saved = (model: Model, name: string): SavedFile[] =>
  modelFiles(model, name).files.map(({ path, chunks }) => ({
    name: path,
    content: new Blob([...chunks].map(chunk => chunk.slice()))
  }))

serve(methods)
