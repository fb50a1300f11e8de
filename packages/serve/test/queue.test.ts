import { describe, expect, test } from 'vitest'
import type { Instance } from '../src/engine/instance.ts'
import type { Done, Item, ItemResult } from '../src/engine/messages.ts'
import { Pace } from '../src/models/pace.ts'
import { Queue } from '../src/models/queue.ts'
import { Presence } from '../src/models/request.ts'

const feeds = (rows: number, columns = 2): Item['feeds'] => ({
  x: { type: 'float32', dims: [rows, columns], data: new Float32Array(rows * columns) }
})

/** An engine that answers when it is told to, and says that a request took so many milliseconds. */
function engine(milliseconds = 10): {
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
          resolve({ results, times: { input: 0, infer: milliseconds * items.length, output: 0 } })
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
    queue.join(2, 200)
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

  test('runs in its own thread what has been short, and nothing else', async () => {
    const queue = new Queue({ ...options, maxQueue: 10 })
    const [thread, near] = [engine(0.01), engine(0.01)]
    let made = 0
    queue.join(4, 0)
    queue.runNear(async () => {
      made++
      return near.instance
    })
    queue.add(thread.instance)
    const answer = async (rows: number, { runs } = thread): Promise<void> => {
      const answered = queue.submit({ feeds: feeds(rows) })
      await turn()
      runs.at(-1)!.end()
      await answered
    }
    await answer(1)
    expect([made, near.runs.length]).toEqual([0, 0])
    await answer(1)
    expect(made).toBe(1)
    await answer(1, near)
    await answer(2)
    await answer(2, near)
    // Of 3 and 4 rows nothing is known yet.
    await answer(4)
    expect(thread.runs.map(({ items }) => items[0].feeds.x.dims[0])).toEqual([1, 1, 2, 4])
    const many = Array.from({ length: 6 }, () => queue.submit({ feeds: feeds(1) }))
    await turn()
    // The rest wait for the end of the first run, although the thread is free.
    expect([near.runs.length, thread.runs.length, queue.length]).toEqual([3, 4, 2])
    near.runs.at(-1)!.end()
    await turn()
    near.runs.at(-1)!.end()
    await Promise.all(many)
    expect([near.runs.length, thread.runs.length]).toEqual([4, 4])
  })

  test('goes back to threads where runs have become slow', async () => {
    const pace = new Pace()
    expect(pace.isShort('k', 1)).toBe(false)
    pace.note('k', 16, 0.2)
    pace.note('k', 9, 40)
    expect([pace.isShort('k', 12), pace.isShort('k', 8), pace.isShort('other', 16)]).toEqual([true, false, false])
    for (let i = 0; i < 500; i++) pace.note('k', 16, 40)
    expect(pace.isShort('k', 16)).toBe(false)
  })

  test('refuses a request whose deadline has passed, where it waits and where it runs', async () => {
    const queue = new Queue(options)
    const { instance, runs } = engine()
    queue.add(instance)
    const deadline = performance.now() + 200
    const [running, waiting] = [
      queue.submit({ feeds: feeds(1), deadline }),
      queue.submit({ feeds: feeds(1), deadline })
    ]
    // Both may be refused before the first is looked at.
    waiting.catch(() => undefined)
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
