import { describe, expect, test } from 'vitest'
import type { ByteSource } from '../../src/files/byte-source.ts'
import { openUrl } from '../../src/files/http.ts'
import { networkFrom, type NetworkOptions, type ReadProgress, Traffic } from '../../src/files/network.ts'
import { type Giving, giving, startWeb, webOfTests } from '../fixtures/web.ts'

const SIZE = 400_000
const bytes = Uint8Array.from({ length: SIZE }, (_, i) => (i * 7 + (i >> 8)) & 255)
const FILE = '/folder/file.bin'
const web = await webOfTests()

/** Milliseconds: so short that a test of them is, too, and long enough for a request on a busy machine. */
const SHORT = 1000
const quick = (options: NetworkOptions = {}): NetworkOptions => ({ retries: 1, ...options })

async function opened(how: Giving, options?: NetworkOptions): Promise<ByteSource> {
  web.files.set(FILE, giving(bytes, how))
  return (await openUrl(new URL(web.url(FILE)), networkFrom(quick(options)), new Traffic())).source
}

async function read(source: ByteSource, offset: number, length: number): Promise<Uint8Array> {
  const end = await source.remote!.fetch([{ offset, length }])
  const found = source.read(offset, length).slice()
  end()
  return found
}

/** Ranges of which none is near another. */
const apart = (count: number): { offset: number; length: number }[] =>
  Array.from({ length: count }, (_, i) => ({ offset: 70_000 + i * 18_000, length: 100 + i }))

async function readsApart(source: ByteSource, count: number): Promise<void> {
  const ranges = apart(count)
  const end = await source.remote!.fetch(ranges)
  for (const { offset, length } of ranges)
    expect(source.read(offset, length)).toEqual(bytes.subarray(offset, offset + length))
  end()
}

const tag = (): string => '"one"'

describe('a file on a server with ranges', () => {
  test('is opened by its first bytes, and read where it is wanted', async () => {
    const source = await opened({ etag: tag })
    expect(source.size).toBe(SIZE)
    expect(source.read(0, 1000)).toEqual(bytes.subarray(0, 1000))
    expect(() => source.read(200_000, 5)).toThrow(expect.objectContaining({ code: 'bad-usage' }))
    expect(await read(source, 200_000, 5)).toEqual(bytes.subarray(200_000, 200_005))
    expect(web.ranges(FILE)).toEqual(['bytes=0-65535', 'bytes=200000-200004'])
    expect(web.asked[1].headers['if-range']).toBe('"one"')
  })

  test('is asked for near ranges together, and for what is at hand never again', async () => {
    const source = await opened({})
    const end = await source.remote!.fetch([
      { offset: 100_000, length: 10 },
      { offset: 100_020, length: 10 },
      { offset: 300_000, length: 10 }
    ])
    await source.remote!.fetch([{ offset: 100_021, length: 5 }])
    end()
    expect(web.ranges(FILE).slice(1)).toEqual(['bytes=100000-100029', 'bytes=300000-300009'])
  })

  test('gives many ranges in one answer', async () => {
    const source = await opened({ etag: tag })
    await readsApart(source, 15)
    await readsApart(source, 15)
    expect(web.asked.length).toBe(2)
    expect(web.ranges(FILE)[1]).toMatch(/^bytes=70000-70099,88000-88100,/)
  })

  test.each([
    ['all of the file', false as const],
    ['one range with all that is between', 'joined' as const]
  ])('is asked for each range alone where it gives %s for several', async (_, how) => {
    const source = await opened({ etag: tag, several: how })
    await readsApart(source, 15)
    const several = (): number => web.ranges(FILE).filter(range => range?.includes(',')).length
    expect(several()).toBe(1)
    await readsApart(source, 18)
    expect(several()).toBe(1)
  })

  test('may be empty', async () => {
    web.files.set(FILE, giving(new Uint8Array(0)))
    const { source } = await openUrl(new URL(web.url(FILE)), networkFrom(), new Traffic())
    expect([source.size, source.inMemory]).toEqual([0, true])
  })

  test('tells how far reading has come', async () => {
    web.files.set(FILE, giving(bytes))
    const seen: ReadProgress[] = []
    const traffic = new Traffic(progress => seen.push(progress))
    const { source } = await openUrl(new URL(web.url(FILE)), networkFrom(), traffic)
    await source.remote!.fetch([{ offset: 100_000, length: 200_000 }])
    expect(seen.at(-1)).toEqual({ file: web.url(FILE), bytes: 265_536, total: 265_536 })
    expect(seen.every(({ bytes: came }, i) => i === 0 || came > seen[i - 1].bytes)).toBe(true)
  })
})

describe('a file on a server without ranges', () => {
  test('is read whole, once, and that is said', async () => {
    web.files.set(FILE, giving(bytes, { ranges: false }))
    const { source, note } = await openUrl(new URL(web.url(FILE)), networkFrom(), new Traffic())
    expect(Buffer.compare(source.read(0, SIZE), bytes)).toBe(0)
    expect(note).toMatch(/the server has no ranges, so all 400000 bytes were read/)
    expect(web.asked.length).toBe(1)
  })

  test.each([
    ['that says how large it is', {}],
    ['that does not', { 'Transfer-Encoding': 'chunked' }]
  ])('is refused where it is too large, by a server %s', async (_, headers) => {
    const change: Giving['change'] = answer => {
      if ('Transfer-Encoding' in headers) delete answer.headers['Content-Length']
    }
    const failure = opened({ ranges: false, headers, change }, { wholeBytes: 100_000 })
    await expect(failure).rejects.toMatchObject({
      code: 'limit-exceeded',
      message: /127.*file.bin: .*more than 100000 bytes \(option wholeBytes\)/
    })
  })
})

type Change = NonNullable<Giving['change']>

/** A read from a server that gives the first bytes well, and then what `change` makes of an answer. */
async function spoiled(change: Change, options?: NetworkOptions): Promise<() => Promise<unknown>> {
  let isFirst = true
  const source = await opened(
    {
      etag: tag,
      change(answer) {
        if (!isFirst) change(answer)
        isFirst = false
      }
    },
    options
  )
  return () => read(source, 100_000, 1000)
}

/** A failure with the address of the file. */
const fails = (work: () => Promise<unknown>, code: string, message: RegExp, path = FILE): Promise<void> =>
  expect(work()).rejects.toMatchObject({ code, message, place: { file: web.url(path) } })

const stop =
  (after: 'cut' | 'stall', length?: number): Change =>
  answer => {
    answer.sent = 10
    answer.after = after
    if (length !== undefined) answer.headers['Content-Length'] = length
  }

const stalling = stop('stall')

/** Another body than the 1000 bytes that were asked for. */
const ofBytes =
  (count: number): Change =>
  answer => {
    answer.body = bytes.subarray(0, count)
    answer.sent = count
    answer.headers['Content-Length'] = count
  }

const withHeader =
  (name: string, value: string): Change =>
  answer => {
    answer.headers[name] = value
  }

const withStatus =
  (status: number, headers: Readonly<Record<string, string>> = {}): Change =>
  answer => {
    answer.status = status
    Object.assign(answer.headers, headers)
  }

describe('a server that', () => {
  test.each<[string, Change, string, RegExp]>([
    ['stalls within an answer', stalling, 'network-failed', /nothing has come for 1000 ms/],
    ['cuts every answer', stop('cut'), 'network-failed', /cannot be fetched/],
    ['says that an answer is longer than it is', stop('cut', 2000), 'network-failed', /cannot be fetched|ends after/],
    ['ends an answer early', ofBytes(10), 'network-failed', /ends after 10 of 1000 bytes/],
    ['sends more than was asked for', ofBytes(5000), 'invalid-file', /sends more than the 1000 bytes/],
    [
      'sends another range',
      withHeader('Content-Range', `bytes 5-1004/${SIZE}`),
      'invalid-file',
      /sends bytes 5-1004 where 100000-100999 were asked for/
    ],
    ['does not say which range it sends', withHeader('Content-Range', '?'), 'invalid-file', /sends no range/],
    [
      'says that the file has another size by now',
      withHeader('Content-Range', 'bytes 100000-100999/500000'),
      'invalid-file',
      /changed while it was in use/
    ],
    ['packs a range', withHeader('Content-Encoding', 'gzip'), 'invalid-file', /Content-Encoding gzip/],
    ['has the file no more', withStatus(404), 'missing-file', /answers 404/],
    ['stays busy', withStatus(503), 'network-failed', /answers 503/],
    [
      'wants to be left alone for long',
      withStatus(429, { 'Retry-After': '3600' }),
      'network-failed',
      /left alone for 3600000 ms/
    ]
  ])('%s leads to a typed error in time', async (_, change, code, message) => {
    await fails(await spoiled(change, change === stalling ? { timeout: SHORT } : {}), code, message)
  })

  test('does not answer leads to a typed error in time, and is not asked again', async () => {
    web.files.set(FILE, () => undefined)
    const work = (): Promise<unknown> =>
      openUrl(new URL(web.url(FILE)), networkFrom(quick({ timeout: SHORT })), new Traffic())
    await fails(work, 'network-failed', /nothing has come for 1000 ms \(timeout\)/)
    expect(web.asked.length).toBe(1)
  })

  test('sends a byte now and then leads to a typed error in time', async () => {
    web.files.set(FILE, (_, response) => {
      response.writeHead(206, { 'Content-Range': `bytes 0-65535/${SIZE}` })
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const work = (): Promise<unknown> =>
      openUrl(new URL(web.url(FILE)), networkFrom(quick({ timeout: SHORT })), new Traffic())
    await fails(work, 'network-failed', /takes too long \(timeout\)/)
  })

  test('has no ranges and sends MiB after MiB takes as long as their number says', async () => {
    const piece = new Uint8Array(2 ** 20)
    web.files.set(FILE, (_, response) => {
      response.writeHead(200, { 'Content-Length': 5 * piece.length })
      let left = 5
      const timer = setInterval(() => {
        response.write(piece)
        if (--left === 0) response.end()
      }, SHORT / 2)
      response.on('close', () => clearInterval(timer))
    })
    const { source } = await openUrl(new URL(web.url(FILE)), networkFrom(quick({ timeout: SHORT })), new Traffic())
    expect(source.size).toBe(5 * piece.length)
  })

  test('is not there leads to a typed error', async () => {
    const other = await startWeb()
    other.close()
    const failure = openUrl(new URL(other.url(FILE)), networkFrom(quick()), new Traffic())
    await expect(failure).rejects.toMatchObject({ code: 'network-failed', message: /ECONNREFUSED/ })
  })

  test('was busy once, or cut once, is asked again', async () => {
    for (const change of [withStatus(503, { 'Retry-After': '0' }), stop('cut')]) {
      web.asked.length = 0
      let isBusy = true
      const again = await spoiled(answer => {
        if (isBusy) change(answer)
        isBusy = false
      })
      expect(await again()).toEqual(bytes.subarray(100_000, 101_000))
      expect(web.asked.length).toBe(3)
    }
  })

  test('has another version of the file leads to an error, whatever tells the versions apart', async () => {
    for (const one of ['"1"', 'W/"1"', undefined]) {
      let version = 0
      const source = await opened({
        etag: () => one?.replace('1', String(++version)),
        change: answer => {
          if (one === undefined) answer.headers['Last-Modified'] = new Date(1e12 + 1e6 * version++).toUTCString()
        }
      })
      await fails(() => read(source, 100_000, 10), 'invalid-file', /changed while it was in use/)
    }
  })

  test('sends parts that are none, or too much of them, leads to an error', async () => {
    const changes: readonly Change[] = [
      answer => (answer.body = bytes.subarray(0, 6000)),
      answer =>
        (answer.body = Buffer.from(`--x\r\nContent-Range: bytes 0-399999/400000\r\n\r\n${'y'.repeat(390_000)}`)),
      answer => (answer.body = Buffer.from('--x\r\nContent-Range: bytes 5-1/400000\r\n\r\n'))
    ]
    for (const change of changes) {
      const source = await opened({
        change(answer) {
          if (!answer.range?.includes(',')) return
          change(answer)
          answer.sent = answer.body.length
        }
      })
      await fails(() => source.remote!.fetch(apart(10)), 'invalid-file', /^.*(parts|part|more than the ranges)/)
    }
  })
})

describe('a redirect', () => {
  const redirect = (to: string): void => {
    web.files.set('/first', (_, response) => response.writeHead(302, { Location: to }).end())
  }
  const open = (options?: NetworkOptions): Promise<{ source: ByteSource }> =>
    openUrl(new URL(web.url('/first')), networkFrom(quick(options)), new Traffic())

  test('within the origin is followed, and asked first from then on', async () => {
    web.files.set(FILE, giving(bytes))
    redirect(`${FILE}?sign=1`)
    const { source } = await open()
    await read(source, 100_000, 10)
    expect(web.asked.map(({ path }) => path)).toEqual(['/first', FILE, FILE])
    // An address that has expired.
    web.files.delete(FILE)
    web.files.set('/next', giving(bytes))
    redirect('/next')
    expect(await read(source, 200_000, 10)).toEqual(bytes.subarray(200_000, 200_010))
  })

  test('elsewhere is refused before anything is asked there, and followed where that is allowed', async () => {
    const other = await startWeb()
    try {
      other.files.set('/x', giving(bytes))
      redirect(other.url('/x'))
      await fails(() => open(), 'outside-folder', /redirects to http:.*allow that by the option origins/, '/first')
      expect(other.asked).toEqual([])
      const options = { origins: [other.origin], headers: { Authorization: 'Bearer secret' } }
      const { source } = await open(options)
      expect(await read(source, 100_000, 10)).toEqual(bytes.subarray(100_000, 100_010))
      expect(web.asked.length).toBe(2)
      expect(web.asked.at(-1)?.headers.authorization).toBe('Bearer secret')
      expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
      other.files.clear()
      web.files.clear()
      await fails(() => read(source, 200_000, 10), 'missing-file', /answers 404/, '/first')
    } finally {
      other.close()
    }
  })

  test('to what is no web server is refused', async () => {
    for (const to of ['file:///etc/passwd', 'data:,x', 'http://name:word@127.0.0.1/']) {
      redirect(to)
      await fails(() => open(), 'outside-folder', /no address of a web server/, '/first')
    }
  })

  test('in a circle ends', async () => {
    redirect('/first')
    await fails(() => open(), 'limit-exceeded', /more than 5 redirects/, '/first')
    expect(web.asked.length).toBe(6)
  })
})

describe('a signal', () => {
  test.each<[string, Change]>([
    ['while nothing comes', stop('stall')],
    ['while it waits to ask again', withStatus(503, { 'Retry-After': '1000' })],
    ['while it waits for longer than timers can', withStatus(503, { 'Retry-After': '10000000' })]
  ])('ends reading at once %s', async (_, change) => {
    let isFirst = true
    const source = await opened(
      {
        change(answer) {
          if (!isFirst) change(answer)
          isFirst = false
        }
      },
      // What waited for either would take longer than a test may.
      { timeout: 2 ** 40 }
    )
    const reason = new Error('enough')
    const control = new AbortController()
    setTimeout(() => control.abort(), 50)
    const signal = AbortSignal.any([control.signal])
    const work = source.remote!.fetch([{ offset: 100_000, length: 100 }], signal)
    await expect(work).rejects.toMatchObject({ code: 'aborted', place: { file: web.url(FILE) } })
    const before = source.remote!.fetch([{ offset: 1, length: 100_000 }], AbortSignal.abort(reason))
    await expect(before).rejects.toMatchObject({ code: 'aborted', cause: reason })
  })
})

test('Options of the network are checked', () => {
  for (const wrong of [{ timeout: 0 }, { retries: -1 }, { origins: ['nowhere'] }, { credentials: 'yes' }, { tries: 1 }])
    expect(() => networkFrom(wrong as NetworkOptions)).toThrow(expect.objectContaining({ code: 'bad-usage' }))
})
