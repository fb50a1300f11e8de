/** What programs import from onnxruntime-node: a module of its own, so that it is the default of the entry too. */
import { env } from 'onnxruntime-common'
import { isNode } from '../host.ts'

export * from 'onnxruntime-common'

/** The names by which programs ask for an engine on the CPU, which is what Nodewise is. */
const NAMES = ['cpu', 'wasm', 'nodewise']

/** The engines that sessions can be created with, as `onnxruntime-node` lists its own. */
export const listSupportedBackends = (): { readonly name: string; readonly bundled: boolean }[] =>
  NAMES.map(name => ({ name, bundled: true }))

// As onnxruntime-node does: programs tell by it where they are. It may be loaded too, and have set it or set it later.
if (isNode && env.versions.node === undefined)
  Object.defineProperty(env.versions, 'node', { value: env.versions.common, enumerable: true, configurable: true })
