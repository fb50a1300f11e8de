import { measure, numbersOf } from '../../compare/measure.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { largestMagnitude } from '../../tensor/elements.ts'
import { valuesOf } from '../../tensor/map.ts'
import { isTensor, type Tensor, type Value } from '../../tensor/tensor.ts'

/** The largest absolute error among outputs that pass. */
export interface LargestError {
  /** The output that has it. */
  readonly output: string
  readonly absolute: number
  /** The same as a part of the largest expected magnitude of that tensor: what `--atol-scale` is held against. */
  readonly scaled: number
}

/** Collects the largest error of outputs, by the magnitude of their tensors. */
export class LargestErrors {
  largest: LargestError | undefined

  /** Measures an output that has the types and dims that are expected. */
  add(output: string, actual: Value, expected: Value): void {
    const [given, wanted] = [actual, expected].map(tensorsIn)
    given.forEach((tensor, i) => {
      if (DTYPES[tensor.type].kind === 'string') return
      const { maxAbsolute } = measure(tensor, wanted[i], { rtol: 0, atol: 0 })
      const scale = largestMagnitude(numbersOf(wanted[i]))
      const scaled = maxAbsolute === 0 ? 0 : maxAbsolute / scale
      if (scaled >= (this.largest?.scaled ?? 0)) this.largest = { output, absolute: maxAbsolute, scaled }
    })
  }
}

/** The tensors of a value, in order; of a map its values by the order of their keys. */
function tensorsIn(value: Value): Tensor[] {
  if (isTensor(value)) return [value]
  if (value.type === 'sequence') return value.values.flatMap(tensorsIn)
  if (value.type === 'map') return [valuesOf(value, [...value.entries.keys()].sort())]
  return value.value === undefined ? [] : tensorsIn(value.value)
}

/** `up to 1.2e-7 off in "y", 3.4e-8 of its largest magnitude`, or that nothing differs. */
export const largestErrorText = ({ output, absolute, scaled }: LargestError): string =>
  absolute === 0
    ? 'the same'
    : `up to ${absolute.toExponential(2)} off in "${output}", ${scaled.toExponential(2)} of its largest magnitude`
