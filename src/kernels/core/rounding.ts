/** Doubles from here on are integers, so that adding and subtracting this number rounds, ties to even. */
const TO_INTEGER = 2 ** 52

/** The nearest integer, ties to the even one; the sign of a zero is kept. */
export const roundHalfToEven = (x: number): number =>
  x >= TO_INTEGER || x <= -TO_INTEGER
    ? x
    : x < 0 || Object.is(x, -0)
      ? -(TO_INTEGER - x - TO_INTEGER)
      : TO_INTEGER + x - TO_INTEGER

/** The nearest integer, ties away from zero; the sign of a zero is kept. */
export function roundHalfAwayFromZero(x: number): number {
  const whole = Math.trunc(x)
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole
}
