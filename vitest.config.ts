import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
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
