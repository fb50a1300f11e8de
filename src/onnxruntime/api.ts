/** What programs import from onnxruntime-node: a module of its own, so that it is the default of the entry too. */
export * from 'onnxruntime-common'

/** The names by which programs ask for an engine on the CPU, which is what Nodewise is. */
const NAMES = ['cpu', 'wasm', 'nodewise']

/** The engines that sessions can be created with, as `onnxruntime-node` lists its own. */
export const listSupportedBackends = (): { readonly name: string; readonly bundled: boolean }[] =>
  NAMES.map(name => ({ name, bundled: true }))
