import { defineConfig } from 'eslint/config'
import importX from 'eslint-plugin-import-x'
import tseslint from 'typescript-eslint'

// Circles and layers of imports are held by test/imports.test.ts, which takes a second; import-x/no-cycle took minutes.
export default defineConfig(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'packages/*/dist/',
      'bin/',
      'coverage/',
      'api/',
      'src/onnx/schema.js',
      'src/wasm/binaries.js',
      'src/wasm/assembly/',
      'src/bind/schemas/onnx.ts',
      'src/bind/schemas/onnxruntime.ts',
      'src/bind/schemas/openvino.ts'
    ]
  },
  ...tseslint.configs.recommended,
  {
    plugins: { 'import-x': importX },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
      'import-x/order': [
        'error',
        {
          groups: ['builtin', 'external', 'internal', ['parent', 'sibling', 'index']],
          'newlines-between': 'never',
          alphabetize: { order: 'asc', caseInsensitive: true }
        }
      ],
      'sort-imports': ['error', { ignoreDeclarationSort: true, ignoreCase: true }],
      eqeqeq: 'error',
      'max-len': ['error', { code: 120, ignorePattern: '^import ' }],
      'no-cond-assign': 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-control-regex': 'error',
      'no-empty': 'error',
      'no-fallthrough': 'error',
      'no-self-assign': 'error',
      'no-unsafe-finally': 'error',
      'require-yield': 'error',
      'use-isnan': 'error',
      'valid-typeof': 'error',
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }]
    }
  },
  {
    // Rules that ask the compiler for types.
    files: ['src/**/*.ts', 'test/**/*.ts', 'packages/*/{src,test}/**/*.ts'],
    ignores: ['src/**/*.d.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/return-await': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }]
    }
  },
  {
    files: ['src/**', 'scripts/**', 'bench/**', 'examples/**', 'packages/*/src/**'],
    rules: {
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }]
    }
  }
)
