import engineScript from '../worker/engine.ts?worker&url'
import type { EngineMethods } from '../worker/engine.ts'
import layoutScript from '../worker/layout.ts?worker&url'
import type { LayoutMethods } from '../worker/layout.ts'
import { type Peer, start } from '../worker/rpc.ts'

/** What the engine tells without being asked. */
export type EngineEvent = (event: string, value: unknown) => void

let engine: Peer<EngineMethods> | undefined
let layout: Peer<LayoutMethods> | undefined
let onEvent: EngineEvent = () => undefined

/** The two workers of the page, started when they are first needed and joined by a channel. */
export function workers(): { readonly engine: Peer<EngineMethods>; readonly layout: Peer<LayoutMethods> } {
  if (!engine || !layout) {
    engine = start<EngineMethods>(engineScript, (event, value) => onEvent(event, value))
    layout = start<LayoutMethods>(layoutScript)
    const { port1, port2 } = new MessageChannel()
    void engine.send('connect', [port1], [port1])
    void layout.send('listen', [port2], [port2])
  }
  return { engine, layout }
}

export const listen = (listener: EngineEvent): void => {
  onEvent = listener
}
