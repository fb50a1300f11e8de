/** The part of JSON Schema (draft-07) that describes the configuration file. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'boolean'
  readonly anyOf?: readonly Schema[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  /** Of properties that are not named; `false` allows none. */
  readonly additionalProperties?: Schema | false
  readonly required?: readonly string[]
  readonly items?: Schema
}

const texts = (description: string): Schema => ({ type: 'array', description, items: { type: 'string' } })

const INPUT_SHAPES: Schema = {
  type: 'object',
  description:
    'Dims of inputs by name, for models that have such an input; a dim is a size, a name, an interval or "?".',
  additionalProperties: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } }
}

const IGNORE = texts('Findings that are not reported: a code, or a code, a colon and a place, in which * may stand.')

/** What `nodewise.config.json` may hold. `nodewise.config.schema.json` is this, for editors. */
export const CONFIG_SCHEMA: Schema & { readonly $schema: string; readonly title: string } = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'nodewise.config.json',
  description: 'Settings of "nodewise check" and "nodewise inspect". Paths start from the folder of this file.',
  type: 'object',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string' },
    files: texts('Files, folders and globs of models, for a command that names none.'),
    exclude: texts('Patterns of paths that folders and globs leave out; * stands for any characters, / too.'),
    dataRoot: { type: 'string', description: 'A folder where external data may lie besides the folder of a model.' },
    limits: {
      type: 'object',
      description: 'What a file may ask for, by the name of the limit.',
      additionalProperties: { anyOf: [{ type: 'number' }, { type: 'string' }] }
    },
    check: {
      type: 'object',
      description: 'Settings of "nodewise check".',
      additionalProperties: false,
      properties: {
        strict: { type: 'boolean', description: 'Warnings count as errors.' },
        ignore: IGNORE,
        baseline: { type: 'string', description: 'A file of findings that are known and not reported.' },
        inputShapes: INPUT_SHAPES,
        overrides: {
          type: 'array',
          description: 'Settings of some files. Later ones win; what is ignored adds up.',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['files'],
            properties: {
              files: texts('Patterns of paths; * stands for any characters, / too.'),
              ignore: IGNORE,
              inputShapes: INPUT_SHAPES
            }
          }
        }
      }
    }
  }
}
