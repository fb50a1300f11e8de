import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { StartEngine } from '../src/engine/instance.ts'
import { Models } from '../src/models/models.ts'
import { openRepository } from '../src/models/repository.ts'
import type { RunningServer } from '../src/server.ts'
import { ask, input, serve, temporaryFolder, TWICE, writeModels } from './harness.ts'
import { inThisThread } from './in-this-thread.ts'

const options = { instances: 1, maxQueue: 16, timeout: 0, maxBatch: 1, maxDelay: 0 }
const x = { inputs: [input('x', 'FP32', [1, 3], [1, 2, 3])] }

/** Engines that take a while to end, as threads do, and how many of them there are. */
function counted(milliseconds = 0): { startEngine: StartEngine; running: () => number } {
  let running = 0
  return {
    running: () => running,
    startEngine: () => {
      running++
      const thread = inThisThread()
      let isOver = false
      return {
        ...thread,
        terminate: async () => {
          if (isOver) return
          isOver = true
          await sleep(milliseconds)
          await thread.terminate()
          running--
        }
      }
    }
  }
}

const stateOf = async (server: RunningServer): Promise<unknown> =>
  ((await ask(server, 'v2/repository/index', {})).json as unknown as { state: string }[])[0]?.state

test('a model that a request has unloaded is not brought back by a look at the repository', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE })
  const server = await serve(folder.path, { watch: 5 })
  await server.loaded
  expect((await ask(server, 'v2/repository/models/twice/unload', {})).status).toBe(200)
  await sleep(100)
  expect(await stateOf(server)).toBe('UNAVAILABLE')
  expect((await ask(server, 'v2/repository/models/twice/load', {})).status).toBe(200)
  expect(await stateOf(server)).toBe('READY')
  await server.close(1000)
})

test('a model that is unloaded and loaded by several at once leaves no engine behind', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE })
  const { startEngine, running } = counted()
  const models = new Models(openRepository(folder.path), { ...options, startEngine })
  await models.load('twice')
  const unloaded = models.unload('twice')
  const loaded = models.load('twice')
  await unloaded
  await Promise.all([loaded, models.load('twice')])
  await expect.poll(running).toBe(1)
  await models.close(0)
  expect(running()).toBe(0)
})

test('a model that a request waits for is not put away for another', async () => {
  using folder = temporaryFolder()
  const withWeights = (name: string): string => `<ir_version: 8, opset_import: ["" : 17]>
${name} (float[n, 3] x) => (float[n, 3] y) <float[3] b = {1, 1, 1}> { y = Add(x, b) }`
  const names = ['a', 'b', 'c', 'd']
  writeModels(folder.path, Object.fromEntries(names.map(name => [`${name}/1`, withWeights(name)])))
  const { startEngine } = counted(20)
  const server = await serve(folder.path, { modelMemory: 12, startEngine })
  await server.loaded
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async (_, i) => {
      await sleep(7 * i)
      return (await ask(server, `v2/models/${names[i % names.length]}/infer`, x)).status
    })
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  await server.close(1000)
})

test('a server that is closed while it loads models ends their engines and loads no more', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'a/1': TWICE, 'b/1': TWICE, 'c/1': TWICE })
  const { startEngine, running } = counted()
  const server = await serve(folder.path, { startEngine })
  expect(running()).toBe(1)
  await server.close(0)
  await server.loaded
  expect(running()).toBe(0)
})

test('a link of a repository that leads in a circle keeps no model from being served', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE })
  symlinkSync('circle', join(folder.path, 'circle'))
  symlinkSync('circle', join(folder.path, 'twice/1/circle'))
  const repository = openRepository(folder.path)
  expect(repository.names()).toEqual(['twice'])
  expect(repository.find('twice').served).toHaveLength(1)
  expect(() => repository.find('circle')).toThrow('there is no model "circle"')
})

test('requests that warm a model up leave inputs their defaults; a byte order mark is no fault', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, {
    'steps/1': `<ir_version: 8, opset_import: ["" : 17]>
steps (int64[n] x, int64 step) => (int64[n] y) <int64 step = {1}, int64 from = {0}, int64 to = {1}>
{ r = Range(from, to, step) y = Add(x, r) }`
  })
  writeFileSync(join(folder.path, 'steps/nodewise.json'), '\ufeff{"warmUp": [{"x": [2]}]}')
  const server = await serve(folder.path)
  await server.loaded
  expect(server.models.index()).toMatchObject([{ state: 'READY', reason: '' }])
  await server.close(1000)
})
