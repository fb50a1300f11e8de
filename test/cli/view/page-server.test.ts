import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageServer, servePage } from '../../../src/cli/view/page-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-served-'))
const weights = join(folder, 'elsewhere.data')
let server: PageServer

beforeAll(async () => {
  mkdirSync(join(folder, 'page/assets'), { recursive: true })
  writeFileSync(join(folder, 'page/index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'page/assets/a.js'), 'export {}')
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'm.onnx'), 'model')
  writeFileSync(weights, '0123456789')
  const files = [
    { path: 'm.onnx', file: join(folder, 'm.onnx') },
    { path: 'data/w.data', file: weights }
  ]
  const report = { path: 'r.sarif', file: join(folder, 'secret.txt') }
  server = await servePage(join(folder, 'page'), { main: 'm.onnx', files, report }, 0)
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const at = (path: string): URL => new URL(path, server.url)
const get = async (path: string, headers: Record<string, string> = {}): Promise<[number, string]> => {
  const response = await fetch(at(path), { headers })
  return [response.status, await response.text()]
}

/** Status of a request that names another host, as one has that comes by a name which was bound to this machine. */
const statusFor = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port, pathname } = at('')
    request({ hostname, port, path: pathname, headers: { host } }, response => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })

describe('the server of the page', () => {
  test('serves the page below a path that nobody can guess, isolated and with a policy', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\?served$/)
    const { status, headers } = await fetch(server.url)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*connect-src 'self';/)
    expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp')
    expect((await fetch(at('assets/a.js'))).headers.get('content-type')).toMatch(/^text\/javascript/)
    expect((await fetch(at('/'))).status).toBe(403)
    expect((await fetch(at('/0123/index.html'))).status).toBe(403)
  })

  test('lets the page reach the host of an address that it was asked to open, and no other', async () => {
    const policyAt = async (url: string): Promise<string> =>
      (await fetch(at(`?url=${encodeURIComponent(url)}`))).headers.get('content-security-policy') ?? ''
    expect(await policyAt('https://models.example/a/b.onnx')).toContain("connect-src 'self' https://models.example;")
    expect(await policyAt('javascript:alert(1)')).toContain("connect-src 'self';")
    expect(await policyAt("https://a.example; script-src 'unsafe-inline'/")).toContain("connect-src 'self';")
  })

  test('serves the files of the model and no others, whole and in parts', async () => {
    expect(await get('model.json')).toEqual([
      200,
      '{"main":"m.onnx","files":[{"path":"m.onnx","size":5},{"path":"data/w.data","size":10}],' +
        '"report":{"path":"r.sarif","size":6}}'
    ])
    expect(await get('report/r.sarif')).toEqual([200, 'secret'])
    expect(await get('model/m.onnx')).toEqual([200, 'model'])
    expect(await get('model/data/w.data', { range: 'bytes=2-4' })).toEqual([206, '234'])
    expect(await get('model/data/w.data', { range: 'bytes=8-' })).toEqual([206, '89'])
    expect((await get('model/data/w.data', { range: 'bytes=10-12' }))[0]).toBe(416)
    for (const path of ['model/secret.txt', '..%2fsecret.txt', 'model/..%2f..%2fsecret.txt', '%00', 'elsewhere.data'])
      expect((await get(path))[0]).toBe(404)
    expect((await get('%ff'))[0]).toBe(403)
    expect((await fetch(at('model/m.onnx'), { method: 'POST' })).status).toBe(403)
  })

  test('goes on where a file has gone, and says so', async () => {
    const [lasting, going] = ['lasting.onnx', 'going.onnx'].map(path => ({ path, file: join(folder, path) }))
    for (const { file } of [lasting, going]) writeFileSync(file, 'model')
    const other = await servePage(join(folder, 'page'), { main: 'going.onnx', files: [lasting, going] }, 0)
    rmSync(going.file)
    const statuses: number[] = []
    for (const path of ['model/going.onnx', 'model/lasting.onnx'])
      statuses.push((await fetch(new URL(path, other.url))).status)
    other.close()
    expect(statuses).toEqual([404, 200])
  })

  test('says that a port is taken', async () => {
    const port = Number(at('').port)
    await expect(servePage(join(folder, 'page'), undefined, port)).rejects.toMatchObject({
      code: 'bad-usage',
      message: `--port ${port}: another program has this port`
    })
  })

  test('answers requests that name this host only', async () => {
    expect(await statusFor('attacker.example')).toBe(403)
    expect(await statusFor(at('').host)).toBe(200)
  })
})
