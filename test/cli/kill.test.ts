import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { picks } from '../ops/random.ts'
import { secondsTaken } from '../processor-time.ts'
import { HEAVY } from '../runtime/heavy.ts'
import { askAlone, nodewiseProcess, start, temporaryFolder } from './command.ts'

// `KILLS=200 npx vitest run test/cli/kill.test.ts` is the long form.
const KILLS = Number(process.env.KILLS ?? 5)
const SECONDS = 1000

/** A number from 0 to 1 that depends on the seed only. */
const part = (seed: number): number => picks(seed, 1000) / 1000

const folder = temporaryFolder()
const model = (name: string, parts: ModelParts): string => {
  const path = join(folder, `${name}.onnx`)
  writeFileSync(path, onnxBytes(parts))
  return path
}

/**
 * Kills a command once it has taken so many seconds of processor time, so that it is where it is meant to be on a busy
 * machine too; how it ended, and the seconds of processor time that it took from the signal on.
 */
async function killed(
  args: readonly string[],
  signal: 'SIGINT' | 'SIGKILL',
  after: number
): Promise<{ ended: unknown; late: number; words: string }> {
  const began = performance.now()
  const child = start(args)
  let words = ''
  child.stdout?.on('data', (text: Buffer) => {
    words += text.toString()
  })
  child.stderr?.on('data', (text: Buffer) => {
    words += text.toString()
  })
  const exit = once(child, 'exit')
  const taken = (): number => secondsTaken(child.pid!) ?? (performance.now() - began) / SECONDS
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  // A command that has ended before is not waited for.
  while (isRunning() && taken() < after) await Promise.race([exit, setTimeout(5)])
  const before = taken()
  let last = before
  const look = setInterval(() => (last = isRunning() ? taken() : last), 10)
  child.kill(signal)
  const [code, by] = (await exit) as [number | null, string | null]
  clearInterval(look)
  return { ended: by ?? code, late: last - before, words }
}

describe('a run that is killed while it writes', () => {
  const wide = model('wide', {
    inputs: [port('x', 'float', [1, 1])],
    initializers: [int64s('dims', [2], [1024, 1024])],
    outputs: ['a', 'b', 'c'].map(name => port(name, 'float')),
    nodes: ['a', 'b', 'c'].map(name => node('Expand', ['x', 'dims'], [name]))
  })
  const run = (out: string, fill: string): string[] => ['run', wide, '--fill', fill, '-o', out]

  test.each(['folder', 'archive.npz'])(
    'leaves each file as it was or as it was to be: %s',
    async form => {
      const [zeros, ones, target] = ['zeros', 'ones', 'target'].map(name =>
        join(folder, form === 'folder' ? name : `${name}.npz`)
      )
      const names = form === 'folder' ? ['a.npy', 'b.npy', 'c.npy'] : ['']
      let usual = 0
      for (const [out, fill] of [
        [zeros, 'zeros'],
        [ones, 'ones']
      ]) {
        const { status, seconds } = await askAlone(run(out, fill))
        expect(status).toBe(0)
        usual += seconds / 2
      }
      cpSync(zeros, target, { recursive: true })
      const whole = names.map(name => [zeros, ones].map(at => readFileSync(join(at, name))))
      /** Which of both a file of the target is; -1 for neither. */
      const states = (): number[] =>
        names.map((name, k) => {
          const bytes = readFileSync(join(target, name))
          return whole[k].findIndex(one => one.equals(bytes))
        })
      let [changed, before] = [0, states()]
      for (let i = 0; i < KILLS; i++) {
        // It writes in the last third.
        const at = 0.5 + (0.6 * (i + part(i))) / KILLS
        await killed(run(target, i % 2 === 0 ? 'ones' : 'zeros'), 'SIGKILL', at * usual)
        const now = states()
        expect(now).not.toContain(-1)
        changed += now.filter((state, k) => state !== before[k]).length
        before = now
      }
      console.info(`${KILLS} kills: ${changed} files were replaced, none was torn`)
    },
    KILLS * 60 * SECONDS
  )

  test('leaves nothing behind once a later run writes there', () => {
    const out = join(folder, 'left')
    mkdirSync(out)
    const [old, young, other] = [
      '.nodewise-0123456789abcdef.tmp',
      '.nodewise-fedcba9876543210.tmp',
      '.nodewise-notes.tmp'
    ].map(name => join(out, name))
    for (const path of [old, young, other]) writeFileSync(path, 'half')
    for (const path of [old, other]) utimesSync(path, new Date(0), new Date(0))
    expect(nodewiseProcess(run(out, 'ones')).status).toBe(0)
    expect(readdirSync(out).sort()).toEqual([
      '.nodewise-fedcba9876543210.tmp',
      '.nodewise-notes.tmp',
      'a.npy',
      'b.npy',
      'c.npy'
    ])
  })
})

describe('Ctrl-C ends a command at once', () => {
  const heavy = (name: string, fill: string): string[] => [
    'run',
    model(name.replace(/\W/g, ''), HEAVY[name].parts),
    '--fill',
    fill
  ]
  const chain = model('chain', {
    inputs: [port('x', 'float', [2])],
    outputs: [port('v30000', 'float')],
    nodes: Array.from({ length: 30_000 }, (_, i) => node('Relu', [i === 0 ? 'x' : `v${i}`], [`v${i + 1}`]))
  })
  const one = (type: string): string =>
    model(type, {
      inputs: [port('x', 'float', ['n'])],
      outputs: [port('y', 'float')],
      nodes: [node(type, ['x'], ['y'])]
    })
  const large = (type: string, ...more: string[]): string[] => [
    'run',
    one(type),
    ...['--fill', 'random', '--shape', 'x=4000000'],
    ...more
  ]
  const out = join(folder, 'interrupted')
  /** Commands, and the seconds of processor time between which they do what they are named for. */
  const commands: Readonly<Record<string, readonly [args: readonly string[], from: number, to: number]>> = {
    'in an endless Loop': [heavy('an endless Loop', 'random'), 0.25, 0.4],
    'in a huge MatMul': [heavy('MatMul 4096^3', 'ones'), 0.4, 0.6],
    'in a sort': [large('Unique'), 0.4, 0.6],
    'while it fills, computes and writes a large output': [large('Relu', '-o', join(out, 'y.npz')), 0.2, 0.45],
    'while it prints a large output': [large('Relu', '--json'), 0.4, 0.7],
    'while it checks a long graph': [['check', chain], 0.2, 0.45]
  }
  mkdirSync(out)
  const times = Math.max(2, Math.ceil(KILLS / 4 / Object.keys(commands).length))

  test.each(Object.entries(commands))(
    '%s',
    async (name, [args, from, to]) => {
      const late: number[] = []
      for (let i = 0; i < times; i++) {
        const at = (i + part(31 * name.length + i)) / times
        const end = await killed(args, 'SIGINT', from + (to - from) * at)
        // A short command may have ended before.
        if (end.ended === 0) continue
        expect([130, 'SIGINT']).toContain(end.ended)
        expect(end.words).not.toMatch(/ at .*\.js:\d+/)
        late.push(end.late)
      }
      expect(readdirSync(out).filter(name => name.endsWith('.tmp'))).toEqual([])
      console.info(`${late.length} of ${times} interrupted, the slowest after ${Math.max(0, ...late)} s`)
      // Half a second is promised.
      expect(Math.max(0, ...late)).toBeLessThan(2)
    },
    times * 10 * SECONDS
  )

  test('in the workers of a test run', async () => {
    const cases = join(folder, 'cases', 'endless')
    mkdirSync(join(cases, 'test_data_set_0'), { recursive: true })
    writeFileSync(join(cases, 'model.onnx'), onnxBytes(HEAVY['an endless Loop'].parts))
    writeFileSync(join(cases, 'test_data_set_0', 'input_0.json'), '[1]')
    writeFileSync(join(cases, 'test_data_set_0', 'output_0.json'), '[1]')
    // It would never end.
    const end = await killed(['test', join(folder, 'cases'), '--jobs', '2'], 'SIGINT', 0.5)
    expect([130, 'SIGINT']).toContain(end.ended)
  })
})

describe('a command whose output has nowhere to go', () => {
  test.skipIf(process.platform !== 'linux')('says so in one line when the disk is full', () => {
    const script = `"$0" "$@" > /dev/full`
    const { status, stderr } = nodewiseProcess(
      [
        'run',
        model('small', {
          inputs: [port('x', 'float', [4])],
          outputs: [port('y', 'float')],
          nodes: [node('Relu', ['x'], ['y'])]
        }),
        '--fill',
        'ones',
        '--json'
      ],
      { shell: script }
    )
    expect(status).toBe(2)
    expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/cannot write the output: .*ENOSPC/)])
  })

  test('ends quietly when the reader has seen enough', () => {
    const { status, stdout, stderr } = nodewiseProcess(['ops'], {
      shell: `"$0" "$@" 2>&1 | head -1; exit "\${PIPESTATUS[0]}"`
    })
    expect([status, stdout.trim().split('\n').length, stderr]).toEqual([0, 1, ''])
  })
})
