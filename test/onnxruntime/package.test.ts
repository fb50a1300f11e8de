import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

const manifest = (path: string): Manifest =>
  JSON.parse(readFileSync(new URL(`../../${path}package.json`, import.meta.url), 'utf8')) as Manifest

test('the package in the place of onnxruntime is of the version of the package that it names', () => {
  const { version, dependencies } = manifest('packages/onnxruntime/')
  expect(version).toBe(manifest('').version)
  expect(dependencies.nodewise).toBe(`^${version}`)
})
