import { fail } from '../errors.ts'
import { defineOp, type Op, type OpDefinition, type Operands } from './define.ts'

/** Everything of an operator but its kernel. */
export type RulesDefinition<O extends Operands, P, Moved extends keyof O & string = never> = Omit<
  OpDefinition<O, P, Moved>,
  'run' | 'pack' | 'resampling'
>

/** The kernel of an operator, and what packs constants for it or tells other kernels what it does. */
export type KernelDefinition<O extends Operands, P, Moved extends keyof O & string = never> = Pick<
  OpDefinition<O, P, Moved>,
  'run' | 'pack' | 'resampling'
>

/** An operator without its kernel, which {@link withKernel} adds. */
export interface OpRules<O extends Operands, P, Moved extends keyof O & string = never> extends Op {
  /** Carries the types of the kernel; no value. */
  readonly definition?: OpDefinition<O, P, Moved>
}

const noKernel = (): never => fail('internal', 'an operator without a kernel was run')

/** Whether an operator has a kernel, and is not rules only. */
export const hasKernel = (op: Op): boolean => op.run !== noKernel

/**
 * The rules of an operator whose kernel is large and decides no shapes. `check` holds these alone, so that a bundle of
 * it has no such kernels: what the operator makes of constants then counts as unknown. {@link withKernel} makes the
 * operator of them.
 */
export const defineRules = <const O extends Operands, P = Record<never, never>, Moved extends keyof O & string = never>(
  rules: RulesDefinition<O, P, Moved>
): OpRules<O, P, Moved> => ({ ...rules, run: noKernel })

/**
 * An operator of this package from its rules and its kernel. Calls are marked as pure, so that bundlers leave out those
 * whose result is not used.
 */
export const withKernel = <O extends Operands, P, Moved extends keyof O & string>(
  rules: OpRules<O, P, Moved>,
  kernel: KernelDefinition<O, P, Moved>
): Op => defineOp({ ...rules, ...kernel } as OpDefinition<O, P, Moved>)
