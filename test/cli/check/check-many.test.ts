import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { ask, MODELS, nodewise, nodewiseJson, nodewiseProcess, temporaryFolder, writeIn } from '../command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => writeIn(folder, name, content)

/** A chain of Relu and Neg; each of the values `wrong` is declared with a dim that is false. */
const chain = (names: readonly string[], wrong: readonly string[]): Uint8Array =>
  onnxBytes({
    inputs: [port('x', 'float', [6])],
    values: names.map(name => port(name, 'float', [wrong.includes(name) ? 5 : 6])),
    outputs: [port('y', 'float', [6])],
    nodes: [...names, 'y'].map((name, i) => node(i % 2 === 0 ? 'Relu' : 'Neg', [i === 0 ? 'x' : names[i - 1]], [name]))
  })

const good = file('models/good.onnx', chain(['a'], []))
const bad = file('models/deep/bad.onnx', chain(['a', 'b', 'c'], ['a', 'c']))
for (const name of ['xml', 'bin']) cpSync(join(MODELS, `wrong-dim.${name}`), join(folder, `models/wrong-dim.${name}`))
file('models/pom.xml', '<?xml version="1.0"?>\n<!-- <net> -->\n<project/>')
file('models/node_modules/other/model.onnx', 'not looked at')
file('models/notes.txt', 'no model')
const broken = file('broken/broken.onnx', 'this is no model')
const models = join(folder, 'models')

interface Report {
  readonly files: readonly {
    readonly model: string
    readonly findings?: readonly { readonly code: string; readonly place: { readonly value?: string } }[]
    readonly error?: { readonly code: string }
  }[]
  readonly summary: Record<string, number>
}

async function report(...args: string[]): Promise<Report & { readonly status: number | null }> {
  const { status, json } = await nodewiseJson(['check', '--json', '--no-config', ...args])
  return { status, ...(json as unknown as Report) }
}
const filesOf = ({ files }: Report): string[] => files.map(({ model }) => relative(folder, model))
const valuesIn = ({ files }: Report): unknown[] =>
  files.flatMap(({ findings = [] }) => findings.map(({ place }) => place.value))

describe('check of many', () => {
  test('takes every model of a folder, and nothing else', async () => {
    const answer = await report(models)
    expect(filesOf(answer)).toEqual(['models/deep/bad.onnx', 'models/good.onnx', 'models/wrong-dim.xml'])
    expect(answer).toMatchObject({ status: 1, summary: { files: 3, failed: 0, errors: 3, warnings: 0 } })
  })

  test('takes globs, and each file once', async () => {
    expect(filesOf(await report(join(models, '**/*.onnx'), good))).toEqual(['models/deep/bad.onnx', 'models/good.onnx'])
    expect(filesOf(await report(join(models, '{good,wrong-dim}.*')))).toEqual([
      'models/good.onnx',
      'models/wrong-dim.xml'
    ])
  })

  test('takes a file whose name looks like a glob', async () => {
    const odd = file('odd[1].onnx', chain(['a'], []))
    expect((await nodewise(['check', odd])).status).toBe(0)
  })

  test('goes on after a file that cannot be read, and ends with exit code 2', async () => {
    const answer = await report(broken, bad)
    expect(answer).toMatchObject({
      status: 2,
      files: [{ model: broken, error: { code: 'invalid-file' } }, { model: bad }],
      summary: { files: 2, failed: 1, errors: 2 }
    })
    const { status, stdout, stderr } = await nodewise(['check', broken, bad])
    expect(status).toBe(2)
    expect(stderr).toMatch(new RegExp(`^${broken}: [^\\n]+\\n$`))
    expect(stdout).toMatch(/\n2 errors, 0 warnings, 1 file not checked in 2 files \(/)
  })

  test('says where there is nothing to check', async () => {
    mkdirSync(join(folder, 'empty'), { recursive: true })
    expect(await nodewise(['check', join(folder, 'empty')])).toMatchObject({
      status: 2,
      stderr: `${join(folder, 'empty')}: the folder has no .onnx, .onnxtxt or .xml of a model\n`
    })
    writeFileSync(
      join(folder, 'empty', 'm.onnxtxt'),
      '<ir_version: 9, opset_import: ["" : 21]> g (float[n] x) => (float[n] y) { y = Neg (x) }'
    )
    expect(await nodewise(['check', join(folder, 'empty')])).toMatchObject({ status: 0, stderr: '' })
    expect((await nodewise(['check', join(folder, '*.nothing')])).stderr).toContain('no file is like this pattern')
    expect((await nodewise(['check', '--no-config'])).stderr).toContain('which models?')
  })

  test('passes over named files of XML that are no models, if asked', async () => {
    const pom = join(models, 'pom.xml')
    expect((await nodewise(['check', pom, good])).status).toBe(2)
    expect(await nodewise(['check', '--only-models', pom, good])).toMatchObject({ status: 0, stderr: '' })
    expect(await nodewise(['check', '--only-models', pom])).toMatchObject({ status: 0, stderr: '' })
  })

  test('checks a hundred small files in well under three seconds', async () => {
    for (let i = 0; i < 100; i++) file(`hundred/m${i}.onnx`, chain(['a', 'b'], []))
    const { status, stdout, seconds } = await ask(['check', join(folder, 'hundred')])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^0 errors, 0 warnings in 100 files \(300 nodes, /)
    expect(seconds).toBeLessThan(3)
  })

  test('makes one page of many files', async () => {
    const { stdout } = await nodewise(['check', models, broken, '--format', 'html'])
    expect(stdout.match(/<html/g)).toHaveLength(1)
    expect(stdout.match(/<article class="error">/g)).toHaveLength(4)
    expect(stdout).toContain(`<a href="#f1">${bad}</a>`)
    expect(stdout).toContain(`<h1 id="f1">${bad}</h1>`)
    expect(stdout).not.toContain(`<h1 id="f2">${good}</h1>`)
  })

  test('gives dims to the models that have the input, and refuses those that none has', async () => {
    const open = file(
      'open.onnx',
      onnxBytes({ inputs: [port('z', 'float', ['n'])], outputs: [port('z', 'float')], nodes: [] })
    )
    const shapes = await report(open, good, '--values', '--input-shape', 'z=4')
    expect(shapes.status).toBe(0)
    expect(shapes.files[0]).toMatchObject({ values: [{ name: 'z', dims: [4] }] })
    const named = await report(open, good, '--values', '--input-shape', 'n=4')
    expect(named.files[0]).toMatchObject({ values: [{ name: 'z', dims: [4] }] })
    expect((await nodewise(['check', open, good, '--input-shape', 'q=4'])).stderr).toContain(
      '--input-shape q=4: none of the models has such an input or dim'
    )
  })
})

describe('check --output', () => {
  test('writes the report, by the suffix in its format, and prints nothing', async () => {
    const page = join(folder, 'report.html')
    expect(await nodewise(['check', bad, '-o', page])).toEqual({ status: 1, stdout: '', stderr: '' })
    expect(readFileSync(page, 'utf8')).toMatch(/^<!doctype html>[^]*<\/html>\n$/)
    const log = join(folder, 'report.sarif')
    await nodewise(['check', bad, '-o', log])
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({ version: '2.1.0' })
  })

  test('refuses to write over a model', async () => {
    const before = readFileSync(bad)
    expect((await nodewise(['check', bad, '-o', bad])).stderr).toContain('this is one of the models')
    expect(readFileSync(bad)).toEqual(before)
  })

  test('leaves no file where it cannot write one', async () => {
    // A file is in the place of the folder.
    const { status, stderr } = await nodewise(['check', bad, '-o', join(good, 'report.json')])
    expect(status).toBe(2)
    expect(stderr).toContain('cannot write')
    expect(existsSync(join(good, 'report.json'))).toBe(false)
  })
})

describe('check --quiet', () => {
  test('says nothing where there is no error, and only errors otherwise', async () => {
    expect(await nodewise(['check', good, '--quiet'])).toEqual({ status: 0, stdout: '', stderr: '' })
    const { stdout } = await nodewise(['check', models, '--quiet'])
    expect(stdout.match(/\[error: /g)).toHaveLength(3)
    expect(stdout).not.toMatch(/warnings|note/)
  })
})

describe('check --ignore', () => {
  test('leaves out a code, everywhere or at a place', async () => {
    expect(await report(models, '--ignore', 'dims-mismatch')).toMatchObject({
      status: 0,
      summary: { errors: 0, ignored: 3 }
    })
    expect(valuesIn(await report(bad, good, '--ignore', 'dims-mismatch:a'))).toEqual(['c'])
    expect(valuesIn(await report(bad, good, '--ignore', 'dims-mismatch:Relu_*'))).toEqual([])
    expect(valuesIn(await report(bad, good, '--ignore', '*:0/*'))).toEqual(['c'])
    expect(await report(models, '--ignore', 'dims-mismatch:*/deep/*')).toMatchObject({ summary: { errors: 1 } })
    expect(await report(models, '--ignore', 'dims-mismatch:wrong-dim.xml:47')).toMatchObject({ summary: { errors: 2 } })
    expect(await report(models, '--ignore', 'rank-mismatch')).toMatchObject({ summary: { errors: 3 } })
  })

  test('refuses a code that does not exist', async () => {
    expect((await nodewise(['check', good, '--ignore', 'dim-mismatch'])).stderr).toBe(
      'nodewise: there is no code "dim-mismatch"; did you mean "dims-mismatch"?\n'
    )
  })
})

describe('check --baseline', () => {
  test.each(['--baseline', '--config'])(
    '%s of a file that is not there, or of a folder, says so in one line',
    async option => {
      const lost = join(folder, 'lost.json')
      const refused = async (path: string): Promise<string> => (await nodewise(['check', good, option, path])).stderr
      expect(await refused(lost)).toBe(`${lost}: does not exist\n`)
      expect(await refused(folder)).toBe(`${folder}: cannot be read (EISDIR)\n`)
    }
  )

  test('reports what is new, also where nodes were added before the rest', async () => {
    const model = file('growing/model.onnx', chain(['a', 'b', 'c'], ['a']))
    const baseline = join(folder, 'growing/baseline.json')
    expect(await nodewise(['check', model, '--baseline', baseline, '--update-baseline'])).toMatchObject({ status: 0 })
    expect(JSON.parse(readFileSync(baseline, 'utf8'))).toMatchObject({
      version: 1,
      findings: [{ file: 'model.onnx', code: 'dims-mismatch' }]
    })
    expect((await nodewise(['check', model, '--baseline', baseline])).stdout).toMatch(
      /^0 errors, 0 warnings, 1 ignored/
    )
    file('growing/model.onnx', chain(['before', 'between', 'a', 'b', 'c'], ['a', 'c']))
    expect(valuesIn(await report(model, good, '--baseline', baseline))).toEqual(['c'])
  })

  test('tells of findings that are gone, and forgets them when it is updated', async () => {
    const model = file('mended/model.onnx', chain(['a'], ['a']))
    const other = file('mended/other.onnx', chain(['a'], ['a']))
    const baseline = join(folder, 'mended/baseline.json')
    await nodewise(['check', model, other, '--baseline', baseline, '--update-baseline'])
    file('mended/model.onnx', chain(['a'], []))
    expect((await nodewise(['check', model, '--baseline', baseline])).stderr).toContain(
      '1 known finding no longer there'
    )
    await nodewise(['check', model, '--baseline', baseline, '--update-baseline'])
    // Of files that were not checked nothing is forgotten.
    const { findings } = JSON.parse(readFileSync(baseline, 'utf8')) as { findings: { file: string }[] }
    expect(findings.map(known => known.file)).toEqual(['other.onnx'])
  })

  test.each([
    ['is not there', ['--baseline', join(folder, 'no.json')], 'does not exist'],
    ['is none', ['--baseline', bad], 'invalid-file'],
    ['is not named', ['--update-baseline'], 'which file?']
  ])('refuses one that %s', async (_, args, what) => {
    const { status, stdout } = await nodewise(['check', good, '--json', '--no-config', ...args])
    expect(status).toBe(2)
    expect(stdout).toContain(what)
  })
})

describe('check --format github', () => {
  test('writes annotations with lines, and places in words where there are none', async () => {
    const { stdout } = nodewiseProcess(['check', 'models', '--format', 'github'], { cwd: folder })
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(
      /^::error file=models\/deep\/bad.onnx,title=dims-mismatch::node 0 Relu "Relu_a" \(ai.onnx 17\): dim 0 of /
    )
    expect(lines[2]).toMatch(/^::error file=models\/wrong-dim.xml,line=47,col=6,title=dims-mismatch::Gather "gather"/)
    expect(lines[3]).toMatch(/^3 errors, 0 warnings in 3 files/)
  })

  test('has no line that a name in a model could add', async () => {
    const name = 'a\n::error::100%, yes'
    const model = file('names.onnx', chain([name], [name]))
    const { stdout } = await nodewise(['check', model, '--format', 'github'])
    expect(stdout.match(/^::/gm)).toHaveLength(1)
    expect(stdout).toContain('100%25, yes')
  })
})

describe('options of check that contradict each other', () => {
  test.each([
    [['--json', '--format', 'html'], '--json contradicts --format html'],
    [['--format', 'sarif', '--values'], 'sarif has no place for values'],
    [['--quiet', '--values'], '--values contradicts --quiet']
  ])('%j are refused', async (args, what) => {
    const { status, stdout, stderr } = await nodewise(['check', good, ...args])
    expect(status).toBe(2)
    expect(stdout + stderr).toContain(what)
  })
})
