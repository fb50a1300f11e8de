import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for the bundled command, which the first test that needs it makes (`command.ts`). */
    commandFolder: string
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-bin-'))
  project.provide('commandFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
