import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The bundled command, or why there is none. */
    command: { readonly path: string } | { readonly problem: string }
  }
}

/**
 * Bundles the command as users get it, once for all tests. Tests that do not need it run even when it cannot be built.
 */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-bin-'))
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../scripts/bundle.mjs'), folder],
    { encoding: 'utf8' }
  )
  project.provide('command', status === 0 ? { path: join(folder, 'nodewise.js') } : { problem: stderr })
  return () => rmSync(folder, { recursive: true, force: true })
}
