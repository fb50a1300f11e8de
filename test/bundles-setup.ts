import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for what tests bundle; the first test that needs a bundle makes it (`bundles.ts`). */
    bundlesFolder: string
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-bundles-'))
  project.provide('bundlesFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
