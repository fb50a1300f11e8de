/** `nodewise/onnxruntime`: the API of `onnxruntime-common`, with Nodewise as its engine. */
import * as common from 'onnxruntime-common'
import { backend } from '../onnxruntime/session.ts'

/** The names by which programs ask for an engine on the CPU, which is what Nodewise is. */
const NAMES = ['cpu', 'wasm', 'nodewise']

/** Above the priorities of onnxruntime's own engines: who imports this entry wants Nodewise. */
const PRIORITY = 1000

for (const name of NAMES) common.registerBackend(name, backend, PRIORITY)

export * from 'onnxruntime-common'

/** The engines that sessions can be created with, as `onnxruntime-node` lists its own. */
export const listSupportedBackends = (): { readonly name: string; readonly bundled: boolean }[] =>
  NAMES.map(name => ({ name, bundled: true }))

/** @hidden */
export default common
