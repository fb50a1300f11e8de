import { elementwise } from '../../op-kit/conversion-kit.ts'
import { add, mul, ofWide, sub } from '../../op-kit/conversion-parts.ts'
import { type Made, typeOf } from '../../op-kit/conversion.ts'

/** Polynomials of M. Giles, "Approximating the erfinv function" (2010), in single precision; highest power first. */
const CENTRAL = [
  2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503, -0.00417768164,
  0.246640727, 1.50140941
]
const TAIL = [
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
  1.00167406, 2.83297682
]

/** The inverse of the error function by polynomials: relative errors of some float32 roundings. */
export const erfInvToOnnx = ofWide((w, x) => {
  const number = (value: number): Made => w.scalar(typeOf(x), value)
  const polynomial = (at: Made, [first, ...rest]: readonly number[]): Made =>
    rest.reduce((sum, next) => add(w, mul(w, sum, at), number(next)), number(first))
  const one = number(1)
  const inside = mul(w, sub(w, one, x), add(w, one, x))
  const depth = elementwise(w, 'Neg', w.node('Log', [inside]))
  const central = polynomial(sub(w, depth, number(2.5)), CENTRAL)
  const tail = polynomial(sub(w, elementwise(w, 'Sqrt', depth), number(3)), TAIL)
  const factor = elementwise(w, 'Where', elementwise(w, 'Less', depth, number(5)), central, tail)
  // At the ends the logarithm is infinite.
  const isEnd = elementwise(w, 'Equal', inside, number(0))
  return mul(w, x, elementwise(w, 'Where', isEnd, number(Infinity), factor))
})
