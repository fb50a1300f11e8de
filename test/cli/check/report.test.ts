import { Writable } from 'node:stream'
import { XMLParser } from 'fast-xml-parser'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { statistics, statisticsText } from '../../../src/cli/run/measured-runs.ts'
import { summarize, summaryText } from '../../../src/cli/run/summary.ts'
import { fitted, grouped, startProgress, table, type Terminal } from '../../../src/cli/terminal.ts'
import { junitReport } from '../../../src/cli/test/junit.ts'
import { typeAndDims } from '../../../src/runtime/profile.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a summary', () => {
  test('of numbers has least, greatest and mean, NaN apart', () => {
    expect(summarize(new Tensor('float32', new Float32Array([1, NaN, 5, -2, 4]), [5]))).toEqual({
      type: 'float32',
      dims: [5],
      min: -2,
      max: 5,
      mean: 2,
      nans: 1
    })
    expect(summarize(new Tensor('int64', BigInt64Array.from([1n, 2n, 3n, 4n, 5n]), [5]))).toMatchObject({
      min: 1,
      max: 5,
      mean: 3
    })
    expect(summaryText(summarize(new Tensor('float32', new Float32Array(5).fill(NaN), [5])))).toBe('5 NaN')
  })

  test('of few elements, strings and complex numbers has the first of them', () => {
    expect(summaryText(summarize(new Tensor('int64', [1n, 2n], [2])))).toBe('[1, 2]')
    expect(summaryText(summarize(new Tensor('string', ['a', 'b', 'c', 'd', 'e'], [5])))).toBe('["a", "b", "c", "d", …]')
    expect(summaryText(summarize(new Tensor('complex64', new Float32Array([1, -2]), [1])))).toBe('[1-2j]')
    expect(summaryText(summarize(new Tensor('float32', new Float32Array(), [0])))).toBe('[]')
  })

  test('knows sequences and optionals', () => {
    const tensor = new Tensor('float32', new Float32Array(6), [2, 3])
    expect(
      [
        tensor,
        { type: 'sequence', values: [tensor] } as const,
        { type: 'optional', value: undefined } as const,
        { type: 'optional', value: tensor } as const,
        undefined
      ].map(typeAndDims)
    ).toEqual(['float32[2,3]', 'sequence of 1', 'absent', 'optional float32[2,3]', '-'])
  })
})

test('statistics of one run are its time; p95 is a time that was measured', () => {
  expect(statistics([4])).toEqual({ minimum: 4, median: 4, p95: 4, p99: 4, maximum: 4, mean: 4, throughput: 250 })
  expect(statistics([4, 1, 3, 2])).toMatchObject({ minimum: 1, median: 2.5, p95: 4, mean: 2.5 })
  expect(statistics(Array.from({ length: 100 }, (_, i) => i + 1))).toMatchObject({ p95: 95, p99: 99, maximum: 100 })
})

test('statistics as text say how many runs there are in a second, and how many did not count', () => {
  expect(statisticsText([1, 3], { warmup: 2 })).toBe(
    '2 runs: minimum 1.000 ms, median 2.000 ms, p95 3.000 ms, p99 3.000 ms, maximum 3.000 ms; ' +
      '500 runs a second (after 2 to warm up)'
  )
  expect(statisticsText([300], {})).toMatch(/3\.33 runs a second$/)
})

test('JUnit XML is well-formed whatever a message holds', () => {
  const xml = junitReport([{ name: 'a/b & c', status: 'fail', message: '<1> "x" \u0000 \ud800', milliseconds: 1500 }])
  const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(xml) as {
    testsuites: { testsuite: { testcase: Record<string, unknown> } }
  }
  expect(testsuites.testsuite.testcase).toMatchObject({
    '@_classname': 'a',
    '@_name': 'b & c',
    '@_time': '1.500',
    failure: { '@_message': '<1> "x" \ufffd \ufffd' }
  })
})

test('JUnit XML keeps the lines of a message', () => {
  const xml = junitReport([{ name: 'a', status: 'error', message: 'first\n\tsecond', milliseconds: 1 }])
  expect(xml).toContain('message="first&#10;&#9;second"')
})

test('a table fits the terminal: the widest columns are cut in their middle, those that are kept are not', () => {
  const rows = [
    ['name', 'ms', 'values'],
    ['/encoder/layer.3/attention/MatMul', '12345.678', 'min 0 max 1']
  ]
  const lines = table(fitted(rows, 40, [1]))
  expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(40)
  expect(lines[1]).toMatch(/^\/encode.*…\S*MatMul  12345\.678  min 0 max 1$/)
  expect(fitted(rows, undefined)).toBe(rows)
  expect(table(fitted(rows, 5, [1]))[1]).toContain('12345.678')
  const many = Array.from({ length: 150_000 }, (_, i) => [`a long name of row ${i}`, '1'])
  expect(fitted(many, 12)[149_999]).toEqual(['a lo…9999', '1'])
})

test('a table lines its columns up', () => {
  expect(
    table(
      [
        ['name', 'n'],
        ['a', '10'],
        ['long name', '5']
      ],
      [1]
    )
  ).toEqual(['name        n', 'a          10', 'long name   5'])
  expect([0, 999, 1000, 1234567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567'])
})

describe('progress', () => {
  const terminal = (isTTY: boolean, env = {}): Pick<Terminal, 'stderr' | 'env'> & { written: string[] } => {
    const written: string[] = []
    const stderr = Object.assign(
      new Writable({
        write(text, _, done) {
          written.push(String(text))
          done()
        }
      }),
      { isTTY, columns: 40 }
    )
    return { written, stderr, env }
  }

  test('shows after a second, at most ten times a second, and goes', () => {
    vi.useFakeTimers({ toFake: ['hrtime'] })
    const { written, ...streams } = terminal(true, { NO_COLOR: '' })
    const progress = startProgress(streams)
    for (let i = 0; i < 130; i++) {
      progress.show(() => `${i}`)
      vi.advanceTimersByTime(10)
    }
    progress.end()
    expect(written).toEqual(['\r\x1b[K100', '\r\x1b[K110', '\r\x1b[K120', '\r\x1b[K'])
  })

  test.each([
    ['not on a terminal', false, ''],
    ['with NO_COLOR', true, '1']
  ])('is not shown %s', (_, isTTY, noColor) => {
    vi.useFakeTimers({ toFake: ['hrtime'] })
    const { written, ...streams } = terminal(isTTY, { NO_COLOR: noColor })
    const progress = startProgress(streams)
    vi.advanceTimersByTime(5000)
    progress.show(() => 'working')
    progress.end()
    expect(written).toEqual([])
  })
})
