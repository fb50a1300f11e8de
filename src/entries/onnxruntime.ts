/** `nodewise/onnxruntime`: the API of `onnxruntime-common`, with Nodewise as its engine. */
import * as api from '../onnxruntime/api.ts'
import { backend } from '../onnxruntime/session.ts'

/** Above the priorities of onnxruntime's own engines: who imports this entry wants Nodewise. */
const PRIORITY = 1000

for (const { name } of api.listSupportedBackends()) api.registerBackend(name, backend, PRIORITY)

export * from '../onnxruntime/api.ts'

/** @hidden */
export default api
