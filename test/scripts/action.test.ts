import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command, MODELS, temporaryFolder } from '../cli/command.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = temporaryFolder()

function act(models: string, ARGS = '', SARIF = ''): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, NODEWISE: command(), MODELS: models, ARGS, SARIF, GITHUB_WORKSPACE: ROOT }
  return spawnSync('bash', [join(ROOT, 'scripts/action.sh')], { cwd: ROOT, encoding: 'utf8', env })
}

describe('the GitHub action', () => {
  test('annotates, writes SARIF, and ends as the check does', () => {
    const log = join(folder, 'log.sarif')
    const { status, stdout } = act(`models/palette.onnx\nmodels/wrong-dim.xml\n`, '--strict', log)
    expect(status).toBe(1)
    expect(stdout).toMatch(/^::error file=models\/wrong-dim.xml,line=47,col=6,title=dims-mismatch::/)
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({ runs: [{ results: [{ ruleId: 'dims-mismatch' }] }] })
    expect(act('models/palette.onnx').status).toBe(0)
  })

  test('takes models as names, never as options or as a part of a script', () => {
    const made = join(folder, 'made')
    const { status } = act(`$(touch ${made})\n--help\n"; touch ${made} #`)
    expect(status).toBe(2)
    expect(existsSync(made)).toBe(false)
  })

  test('is given all that its script reads', () => {
    const action = readFileSync(join(ROOT, 'action.yml'), 'utf8')
    const script = readFileSync(join(ROOT, 'scripts/action.sh'), 'utf8')
    for (const [, name] of script.matchAll(/\$([A-Z]+)\b/g)) expect(action).toMatch(new RegExp(`^ {8}${name}: `, 'm'))
  })
})

test('the hook of pre-commit names options that there are', () => {
  const entry = /entry: nodewise (.*)/.exec(readFileSync(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8'))?.[1]
  const args = [...(entry ?? '').split(' '), join(MODELS, 'palette.onnx')]
  const { status, stdout, stderr } = spawnSync(process.execPath, [command(), ...args], { encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
})
