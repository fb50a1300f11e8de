import { createRequire } from 'node:module'
import type { ModelPort } from './engine/messages.ts'
import type { IndexEntry, Models } from './models/models.ts'
import type { Duration } from './models/statistics.ts'
import type { ModelVersion } from './models/version.ts'
import { datatypeOf } from './tensors/datatypes.ts'

/** Extensions of the protocol that are served, by the names that Triton gives them. */
const EXTENSIONS = [
  'binary_tensor_data',
  'model_repository',
  'model_repository(unload_dependents)',
  'model_configuration',
  'statistics',
  'classification'
]

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** The version of this package. */
const VERSION = version

/** Names and datatypes of a port, with -1 for dims that are open. */
interface TensorMetadata {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
}

const metadataOf = ({ name, type, shape = [-1] }: ModelPort): TensorMetadata => ({
  name,
  datatype: type === undefined ? '' : datatypeOf(type),
  shape
})

/** Triton's enumeration of types in the configuration of a model. */
const configType = (datatype: string): string =>
  datatype === '' ? 'TYPE_INVALID' : `TYPE_${datatype === 'BYTES' ? 'STRING' : datatype}`

export const serverMetadata = (): object => ({ name: 'nodewise', version: VERSION, extensions: EXTENSIONS })

/** Metadata of a loaded version. */
export function modelMetadata(models: Models, { name, info }: ModelVersion): object {
  return {
    name,
    versions: models.versionsOf(name),
    platform: `nodewise_${info.dialect}`,
    inputs: info.inputs.map(metadataOf),
    outputs: info.outputs.map(metadataOf)
  }
}

/**
 * What Triton's model configuration extension tells. `max_batch_size` is 0, which says that dims are whole: requests
 * are joined where that changes no answer, and no client need know.
 */
export function modelConfig(model: ModelVersion): object {
  const { name, info, config, queue } = model
  const portOf = (port: ModelPort): object => {
    const { datatype, shape } = metadataOf(port)
    return { name: port.name, data_type: configType(datatype), dims: shape, ...(port.isOptional && { optional: true }) }
  }
  return {
    name,
    platform: `nodewise_${info.dialect}`,
    backend: 'nodewise',
    max_batch_size: 0,
    input: info.inputs.map(portOf),
    output: info.outputs.map(portOf),
    instance_group: [{ name: `${name}_0`, kind: 'KIND_CPU', count: model.size }],
    parameters: {
      joined_requests: { string_value: String(queue.joins) },
      ...(info.notBatched !== undefined && { not_joined_because: { string_value: info.notBatched } }),
      ...(config.timeout !== undefined && { timeout: { string_value: String(config.timeout) } })
    }
  }
}

/** Statistics of versions, in the form of Triton's extension. */
export const statistics = (versions: readonly ModelVersion[]): object => ({ model_stats: versions.map(statisticsOf) })

function statisticsOf({ name, version: number, queue, memory }: ModelVersion): object {
  const s = queue.statistics
  const { success, fail, queue: queued, compute_input, compute_infer, compute_output } = s
  const none: Duration = { count: 0, ns: 0 }
  return {
    name,
    version: number,
    last_inference: s.lastInference,
    inference_count: s.inferences,
    execution_count: s.executions,
    inference_stats: {
      success,
      fail,
      queue: queued,
      compute_input,
      compute_infer,
      compute_output,
      cache_hit: none,
      cache_miss: none
    },
    batch_stats: [...s.batches].map(([batch_size, durations]) => ({ batch_size, ...durations })),
    memory_usage: [{ type: 'CPU', id: 0, byte_size: memory }]
  }
}

/** The repository's index; with `ready` only what can be asked. */
export const repositoryIndex = (models: Models, ready: boolean): readonly IndexEntry[] =>
  models.index().filter(({ state }) => !ready || state === 'READY')
