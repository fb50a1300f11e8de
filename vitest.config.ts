import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

export default defineConfig({
  // As scripts/bundle.mjs puts it in.
  define: { NODEWISE_VERSION: JSON.stringify(version) },
  // Examples import the package as users do.
  resolve: { alias: { nodewise: fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/cli/setup.ts'],
    // A busy machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
