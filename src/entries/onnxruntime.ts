/** `nodewise/onnxruntime`: the API of `onnxruntime-common`, with Nodewise as its engine. */
import { isNode } from '../host.ts'
import * as api from '../onnxruntime/api.ts'
import { backend } from '../onnxruntime/session.ts'

/** Above the priorities of onnxruntime's own engines: who imports this entry wants Nodewise. */
const PRIORITY = 1000

for (const { name } of api.listSupportedBackends()) api.registerBackend(name, backend, PRIORITY)

// As onnxruntime-node does: programs tell by it where they are. It may be loaded too, and have set it or set it later.
const { versions } = api.env
if (isNode && versions.node === undefined)
  Object.defineProperty(versions, 'node', { value: versions.common, enumerable: true, configurable: true })

export * from '../onnxruntime/api.ts'

/** @hidden */
export default api
