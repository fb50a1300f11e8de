/** Calls between the page and its workers: a method by name, its arguments, and an answer or a failure. */

/** A failure as it crosses: an error object would lose its fields. */
export interface Failure {
  readonly code: string
  /** What is wrong, without the place. */
  readonly message: string
  readonly place: string
}

interface Call {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly failure?: Failure
}

interface Event {
  readonly event: string
  readonly value: unknown
}

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>
type Unmoved<T> = T extends Moved<infer V> ? V : T
type Remote<M> = {
  readonly [K in keyof M]: M[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Unmoved<Awaited<R>>>
    : never
}

/** What a method returns with this wrapper is moved, not copied. */
export class Moved<T> {
  readonly value: T
  readonly parts: Transferable[]

  constructor(value: T, parts: Transferable[]) {
    this.value = value
    this.parts = parts
  }
}

/** The failure of whatever was thrown. */
function failureOf(error: unknown): Failure {
  const { code, reason, place, message } = error as {
    code?: string
    reason?: string
    place?: object
    message?: string
  }
  if (error instanceof RangeError) return { code: 'limit-exceeded', message: String(message), place: '' }
  return { code: code ?? 'internal', message: reason ?? message ?? String(error), place: placeOf(place) }
}

interface PlaceParts {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly node?: string
  readonly type?: string
  readonly value?: string
}

function placeOf(place: PlaceParts = {}): string {
  const { file, line, column, node, type, value } = place
  const at = line === undefined ? file : `${file ?? ''}:${line}:${column ?? 1}`
  const what = type === undefined ? (value === undefined ? undefined : `value "${value}"`) : `${type} "${node ?? ''}"`
  return [at, what].filter(part => part !== undefined && part !== '').join(', ')
}

const scope = globalThis as unknown as Pick<Worker, 'postMessage' | 'addEventListener'>

/** Answers calls, in a worker. */
export function serve(methods: Methods): void {
  const answer = async ({ id, method, args }: Call): Promise<void> => {
    try {
      const value = await methods[method](...(args as never[]))
      if (value instanceof Moved) scope.postMessage({ id, value: value.value } satisfies Answer, value.parts)
      else scope.postMessage({ id, value } satisfies Answer)
    } catch (error) {
      scope.postMessage({ id, failure: failureOf(error) } satisfies Answer)
    }
  }
  scope.addEventListener('message', event => void answer((event as MessageEvent<Call>).data))
}

/** Tells the page something that it did not ask for. */
export const tell = (event: string, value: unknown, parts: Transferable[] = []): void =>
  scope.postMessage({ event, value } satisfies Event, parts)

/** A call that failed in a worker. */
export class CallFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** A worker as an object with methods. */
export interface Peer<M> {
  readonly call: Remote<M>
  /** Hands parts of the arguments over instead of copying them. */
  send(method: keyof M & string, args: readonly unknown[], parts: Transferable[]): Promise<unknown>
  close(): void
}

/**
 * Starts a worker from a script of the page's own. It is started through a blob, because such a worker is held by the
 * page's policy, and one with an address of its own is not.
 */
export function start<M>(script: string, onEvent: (event: string, value: unknown) => void = () => undefined): Peer<M> {
  const text = `import ${JSON.stringify(new URL(script, document.baseURI).href)}`
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  const worker = new Worker(address, { type: 'module' })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let next = 0
  const failAll = (message: string): void => {
    for (const { reject } of waiting.values()) reject(new CallFailure({ code: 'internal', message, place: '' }))
    waiting.clear()
  }
  worker.onerror = ({ message }) => failAll(message || 'the worker could not start')
  worker.onmessage = ({ data }: MessageEvent<Answer | Event>) => {
    if ('event' in data) return onEvent(data.event, data.value)
    const call = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.failure) call?.reject(new CallFailure(data.failure))
    else call?.resolve(data.value)
  }
  const send = (method: string, args: readonly unknown[], parts: Transferable[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next++
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, method, args } satisfies Call, parts)
    })
  const call = new Proxy(
    {},
    {
      get:
        (_, method) =>
        (...args: unknown[]) =>
          send(String(method), args)
    }
  ) as Remote<M>
  return {
    call,
    send,
    close() {
      worker.terminate()
      URL.revokeObjectURL(address)
      failAll('the worker was stopped')
    }
  }
}
