import { serveEngine } from '../src/engine/engine.ts'
import type { StartEngine } from '../src/engine/instance.ts'
import type { FromEngine, ToEngine } from '../src/engine/messages.ts'

/** An engine in the thread of the server: what tests look at lies in their own process. */
export const inThisThread: StartEngine = () => {
  const { port1, port2 } = new MessageChannel()
  const listeners: ((message: FromEngine) => void)[] = []
  let tell: ((message: ToEngine) => void) | undefined
  let hasEnded = false
  const underWay = new Set<number>()
  serveEngine({
    postMessage: (message, transfer) => port2.postMessage(message, transfer),
    on: (_, listener) => {
      tell = listener
      port2.onmessage = ({ data }) => !hasEnded && listener(data as ToEngine)
    }
  })
  port1.onmessage = ({ data }) => {
    const message = data as FromEngine
    if (message.kind === 'done') underWay.delete(message.id)
    for (const listener of listeners) listener(message)
  }
  return {
    postMessage: (message, transfer) => {
      if (message.kind === 'run') underWay.add(message.id)
      port1.postMessage(message, transfer)
    },
    on: (event: string, listener: unknown) => event === 'message' && listeners.push(listener as never),
    // With a thread ends what it runs, which here would take the time of all later tests of the process.
    terminate: async () => {
      hasEnded = true
      port1.close()
      for (const id of underWay) tell?.({ kind: 'abort', id })
    }
  }
}
