import { fail } from '../../errors.ts'

/**
 * Loads a package when it is first needed. Its name is no literal, so that bundlers for browsers leave the packages
 * out; there an import map names them.
 * @param what it is needed for, in plural
 * @throws NodewiseError `unsupported-op` where it is not installed
 */
export async function loadPackage<T>(name: string, what: string): Promise<T> {
  try {
    const module = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as { default?: T } & T
    return module.default ?? module
  } catch {
    return fail('unsupported-op', `${what} need the package ${name}, which is not installed`)
  }
}
