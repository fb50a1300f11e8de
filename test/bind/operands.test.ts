import { expect, test } from 'vitest'
import type { Call, Operand } from '../../src/bind/call.ts'
import { byOperand, listed } from '../../src/bind/operands.ts'
import * as ops from '../../src/ops/index.ts'

test('the operands of every operator are made as those of any list, in the same order', () => {
  for (const op of Object.values(ops)) {
    if (!('operands' in op)) continue
    const names = Object.entries(op.operands)
    // Their order is not always that of the inputs.
    for (const indexOf of [(i: number) => i, (i: number) => names.length - 1 - i]) {
      const operands: Operand[] = names.map(([name, kind], i) => ({ name, kind, index: indexOf(i) }))
      for (const count of [0, names.length, names.length + 3]) {
        const items = Array.from({ length: count }, (_, i) => (i % 5 === 3 ? undefined : `item ${i}`))
        const made = byOperand({ operands } as unknown as Call, items)
        const expected = listed(operands, items)
        expect(made).toEqual(expected)
        expect(Object.keys(made)).toEqual(Object.keys(expected))
      }
    }
  }
})
