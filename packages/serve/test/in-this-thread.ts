import { serveEngine } from '../src/engine/engine.ts'
import type { StartEngine } from '../src/engine/instance.ts'
import type { FromEngine, ToEngine } from '../src/engine/messages.ts'

/** An engine in the thread of the server: what tests look at lies in their own process. */
export const inThisThread: StartEngine = () => {
  const { port1, port2 } = new MessageChannel()
  const listeners: ((message: FromEngine) => void)[] = []
  serveEngine({
    postMessage: (message, transfer) => port2.postMessage(message, transfer),
    on: (_, listener) => (port2.onmessage = ({ data }) => listener(data as ToEngine))
  })
  port1.onmessage = ({ data }) => listeners.forEach(listener => listener(data as FromEngine))
  return {
    postMessage: (message, transfer) => port1.postMessage(message, transfer),
    on: (event: string, listener: unknown) => event === 'message' && listeners.push(listener as never),
    terminate: async () => port1.close()
  }
}
