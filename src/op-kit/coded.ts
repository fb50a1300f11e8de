import { fail } from '../errors.ts'
import { CODE_WIDTHS } from '../kernels/quantized/packed.ts'

/**
 * Checks a number of bits that an attribute gives to packed codes.
 * @throws NodewiseError `unknown-attribute-value`
 */
export function checkCodeWidth(name: string, bits: number): void {
  if (!CODE_WIDTHS.includes(bits))
    fail('unknown-attribute-value', `${name} is ${bits}; expected ${CODE_WIDTHS.slice(0, -1).join(', ')} or 8`)
}
