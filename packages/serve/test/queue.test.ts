import { describe, expect, test } from 'vitest'
import type { Done, Instance } from '../src/engine/instance.ts'
import type { Item, ItemResult } from '../src/engine/messages.ts'
import { Queue } from '../src/models/queue.ts'
import { Presence } from '../src/models/request.ts'

const feeds = (rows: number, columns = 2): Item['feeds'] => ({
  x: { type: 'float32', dims: [rows, columns], data: new Float32Array(rows * columns) }
})

/** An engine that answers when it is told to. */
function engine(): {
  instance: Instance
  runs: { items: readonly Item[]; joined: boolean; stopped: boolean; end(): void }[]
} {
  const runs: ReturnType<typeof engine>['runs'] = []
  const waiting = new Set<object>()
  const instance = {
    get load() {
      return waiting.size
    },
    run(items: readonly Item[], joined: boolean) {
      let resolve!: (done: Done) => void
      const done = new Promise<Done>(give => (resolve = give))
      const results = items.map(({ feeds: given }): ItemResult => ({ outputs: given }))
      const run = {
        items,
        joined,
        stopped: false,
        end: () => {
          waiting.delete(run)
          resolve({ results, times: { input: 0, infer: 10 * items.length, output: 0 } })
        }
      }
      waiting.add(run)
      runs.push(run)
      return { done, stop: () => (run.stopped = true) }
    }
  }
  return { instance: instance as unknown as Instance, runs }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
const options = { maxQueue: 3, timeout: 0 }

describe('a queue', () => {
  test('runs requests in their order, one at a time, and refuses those beyond its bound', async () => {
    const queue = new Queue(options)
    const { instance, runs } = engine()
    queue.add(instance)
    const first = queue.submit({ feeds: feeds(1) })
    await turn()
    const others = [2, 3, 4].map(rows => queue.submit({ feeds: feeds(rows) }))
    await turn()
    await expect(queue.submit({ feeds: feeds(5) })).rejects.toMatchObject({
      code: 'queue-full',
      status: 429,
      retryAfter: 1
    })
    expect(runs.map(({ items }) => items.length)).toEqual([1])
    for (let i = 0; i < 4; i++) {
      runs[i].end()
      await turn()
    }
    expect((await Promise.all([first, ...others])).map(({ x }) => x.dims[0])).toEqual([1, 2, 3, 4])
    expect(queue.isIdle).toBe(true)
    expect(queue.statistics).toMatchObject({ inferences: 4, executions: 4, fail: { count: 1 } })
  })

  test('joins requests of the same types and dims, and no others', async () => {
    const queue = new Queue({ ...options, maxQueue: 10 })
    const { instance, runs } = engine()
    queue.join(3, 0)
    queue.add(instance)
    const requests = [feeds(1), feeds(2), feeds(1, 4), feeds(3), feeds(1)].map(one => queue.submit({ feeds: one }))
    await turn()
    while (runs.length < 3) {
      runs.at(-1)!.end()
      await turn()
    }
    runs.at(-1)!.end()
    await Promise.all(requests)
    expect(runs.map(({ items, joined }) => [items.map(({ feeds: { x } }) => x.dims), joined])).toEqual([
      [
        [
          [1, 2],
          [2, 2],
          [3, 2]
        ],
        true
      ],
      [[[1, 4]], false],
      [[[1, 2]], false]
    ])
  })

  test('lets requests wait for others as long as they may', async () => {
    const queue = new Queue(options)
    const { instance, runs } = engine()
    queue.join(2, 20)
    queue.add(instance)
    const alone = queue.submit({ feeds: feeds(1) })
    await turn()
    expect(runs).toHaveLength(0)
    await expect.poll(() => runs.length).toBe(1)
    runs[0].end()
    await alone
    const both = [queue.submit({ feeds: feeds(1) }), queue.submit({ feeds: feeds(1) })]
    await turn()
    expect(runs[1].joined).toBe(true)
    runs[1].end()
    await Promise.all(both)
  })

  test('refuses a request whose deadline has passed, where it waits and where it runs', async () => {
    const queue = new Queue(options)
    const { instance, runs } = engine()
    queue.add(instance)
    const deadline = performance.now() + 15
    const [running, waiting] = [
      queue.submit({ feeds: feeds(1), deadline }),
      queue.submit({ feeds: feeds(1), deadline })
    ]
    await expect(running).rejects.toMatchObject({ code: 'deadline-exceeded', status: 504 })
    await expect(waiting).rejects.toMatchObject({ code: 'deadline-exceeded' })
    expect(runs.map(({ stopped }) => stopped)).toEqual([true])
    await expect(queue.submit({ feeds: feeds(1), deadline: performance.now() - 1 })).rejects.toMatchObject({
      status: 504
    })
    runs[0].end()
    await queue.drained()
  })

  test('forgets requests of clients that leave, and stops a run when all of its clients have left', async () => {
    const queue = new Queue({ ...options, maxQueue: 10 })
    const { instance, runs } = engine()
    queue.join(2, 0)
    queue.add(instance)
    const clients = [new Presence(), new Presence(), new Presence()]
    const requests = clients.map(client => queue.submit({ feeds: feeds(1), client }))
    for (const request of requests) request.catch(() => undefined)
    await turn()
    clients[2].leave()
    expect(queue.length).toBe(0)
    clients[0].leave()
    expect(runs[0].stopped).toBe(false)
    clients[1].leave()
    expect(runs[0].stopped).toBe(true)
    runs[0].end()
    for (const request of requests) await expect(request).rejects.toMatchObject({ code: 'cancelled', status: 499 })
    expect(queue.statistics.failures.get('CANCELED')).toBe(3)
    await queue.drained()
  })
})
