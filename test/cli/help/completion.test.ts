import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { command, MODELS, nodewise, temporaryFolder } from '../command.ts'

const palette = join(MODELS, 'palette.onnx')
/** The candidates where the cursor is at the end of the last word. */
const complete = async (...words: readonly string[]): Promise<string[]> =>
  (await nodewise(['complete', '--', ...words])).stdout.split('\n').slice(0, -1)
const wordsOf = (lines: readonly string[]): string[] => lines.map(line => line.split('\t')[0])

describe('completed are', () => {
  test('commands, with what they do', async () => {
    expect(await complete('ch')).toEqual(['check\tcheck that what models declare can be true'])
    expect(wordsOf(await complete(''))).toEqual(expect.arrayContaining(['run', 'inspect', 'completion', 'help']))
    expect(wordsOf(await complete('help', 'ins'))).toEqual(['inspect'])
    expect(wordsOf(await complete(''))).not.toContain('complete')
  })

  test('options', async () => {
    expect(wordsOf(await complete('run', palette, '--out'))).toEqual(['--output', '--out-of-range'])
    expect(wordsOf(await complete('--v'))).toEqual(['--version'])
    // All arguments are there: what is left are options.
    expect(wordsOf(await complete('run', palette, ''))).toContain('--input')
  })

  test('values of options, also after =', async () => {
    expect(await complete('check', '--format', 's')).toEqual(['sarif'])
    expect(await complete('check', '--format=s')).toEqual(['--format=sarif'])
    expect(await complete('run', palette, '--fill', '')).toEqual(['zeros', 'ones', 'random'])
    expect(await complete('completion', 'p')).toEqual(['powershell'])
    expect(await complete('check', '--limit', 'graph')).toEqual(['graphDepth=', ':nospace'])
  })

  test('codes of findings and names of operators', async () => {
    expect(wordsOf(await complete('explain', 'dims-'))).toEqual(['dims-mismatch'])
    expect(wordsOf(await complete('check', palette, '--ignore', 'dead-'))).toEqual(['dead-layer'])
    expect(wordsOf(await complete('ops', 'GatherN'))).toEqual(['GatherND'])
  })

  test('names of the model that stands before', async () => {
    expect(await complete('run', palette, '-i', '')).toEqual(['ids=', ':nospace'])
    expect(await complete('run', palette, '--shape', '')).toEqual(['ids=', 'n=', ':nospace'])
    expect(await complete('run', palette, '--fetch', 'r')).toEqual(['rgb'])
    expect(await complete('run', join(MODELS, 'none.onnx'), '-i', '')).toEqual([':none'])
  })

  test('paths, by the shell, where a file is wanted', async () => {
    for (const words of [
      ['run', ''],
      ['run', palette, '-o', 'out'],
      ['run', palette, '-i', 'ids='],
      ['check', palette, 'mo'],
      ['check', '--', '--odd'],
      ['run', palette, '--ops', '']
    ])
      expect(await complete(...words), words.join(' ')).toEqual([])
  })

  test('nothing, where there is nothing', async () => {
    for (const words of [
      ['run', palette, '--threads', ''],
      ['chek', ''],
      ['ops', 'Gahter'],
      ['check', '--strict=']
    ])
      expect(await complete(...words), words.join(' ')).toEqual([':none'])
  })
})

describe('the script of', () => {
  const folder = temporaryFolder()
  const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
  const answer = (program: string, args: readonly string[]): string[] =>
    spawnSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(folder, 'path')}${delimiter}${process.env.PATH}`, HOME: folder }
    }).stdout.split('\n')

  beforeAll(async () => {
    mkdirSync(join(folder, 'path'))
    symlinkSync(command(), join(folder, 'path/nodewise'))
    cpSync(palette, join(folder, 'model.onnx'))
    for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
      writeFileSync(join(folder, shell), (await nodewise(['completion', shell])).stdout)
  })

  test.skipIf(!has('bash'))('bash completes words, values after = and what goes on', () => {
    // As Bash calls it: = and : are words of their own.
    const bash = (line: string, ...words: readonly string[]): string[] =>
      answer('bash', [
        '--norc',
        '-c',
        `compopt() { echo "compopt $*"; }; source ./bash; COMP_LINE=$1; COMP_POINT=\${#1}; shift
         COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nodewise; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        line,
        ...words
      ]).filter(text => text !== '')
    expect(bash('nodewise ch', 'nodewise', 'ch')).toEqual(['check'])
    expect(bash('nodewise check --format ', 'nodewise', 'check', '--format', '')).toContain('sarif')
    expect(bash('nodewise check --format=s', 'nodewise', 'check', '--format', '=', 's')).toEqual(['sarif'])
    expect(bash('nodewise check --format=', 'nodewise', 'check', '--format', '=')).toContain('github')
    expect(bash('nodewise run model.onnx -i ', 'nodewise', 'run', 'model.onnx', '-i', '')).toEqual([
      'compopt -o nospace',
      'ids='
    ])
    expect(bash('nodewise run --threads ', 'nodewise', 'run', '--threads', '')).toEqual(['compopt +o default'])
    expect(bash('nodewise run mo', 'nodewise', 'run', 'mo')).toEqual([])
    // What is typed is not run.
    bash('nodewise run $(touch owned) ', 'nodewise', 'run', '$(touch owned)', '')
    expect(answer('ls', [])).not.toContain('owned')
  })

  test.skipIf(!has('zsh'))('zsh describes candidates, and completes paths', () => {
    const zsh = (...words: readonly string[]): string[] =>
      answer('zsh', [
        '-f',
        '-c',
        `compdef() { }; _describe() { print -l -- $candidates "$@[5,-1]" }; compset() { }; _files() { print files }
         source ./zsh; words=("$@"); CURRENT=$#; _nodewise`,
        'zsh',
        'nodewise',
        ...words
      ]).filter(text => text !== '')
    expect(zsh('ch')).toEqual(['check:check that what models declare can be true'])
    expect(zsh('run', 'model.onnx', '-i', '')).toEqual(['ids=', '-S'])
    expect(zsh('run', 'mo')).toEqual(['files'])
    expect(zsh('run', '--threads', '')).toEqual([])
  })

  test.skipIf(!has('fish'))('fish completes words and paths', () => {
    const fish = (line: string): string[] =>
      answer('fish', ['-c', `source ./fish; complete -C ${JSON.stringify(line)}`]).filter(text => text !== '')
    expect(fish('nodewise ch')).toEqual(['check\tcheck that what models declare can be true'])
    expect(fish('nodewise check --format=s')).toEqual(['--format=sarif'])
    expect(fish('nodewise run model.onnx -i ')).toEqual(['ids='])
    expect(fish('nodewise run mo')).toEqual(['model.onnx'])
    expect(fish('nodewise run model.onnx -i ids=mo')).toEqual(['ids=model.onnx'])
    expect(fish('nodewise run --threads ')).toEqual([])
  })

  test.skipIf(!has('pwsh'))('PowerShell completes words', () => {
    const line = 'nodewise check --format s'
    expect(
      answer('pwsh', [
        '-NoProfile',
        '-Command',
        `. ./powershell; (TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`
      ])
    ).toContain('sarif')
  })
})
