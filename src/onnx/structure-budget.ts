import { exceed, leastStructure, type Limits } from '../graph/limits.ts'
import { BYTES_PER_UNIT } from './skim-fields.ts'

/*
 * Two bytes of protobuf can be an empty node, so a small file could take a thousand times its size in memory. The
 * memory that the parts of a file may take is therefore in proportion to the bytes of the file that describe them: a
 * share of the limit is free; beyond it each byte allows 2 units, and a quarter of a unit once a quarter of the limit
 * is used. Models in use need 0.3 to 1.1 units a byte, and 1.9 where all names have one letter.
 */
const FREE_SHARE = 1 / 64
const UNITS_PER_BYTE = 2
const PLENTY_SHARE = 1 / 4
const UNITS_PER_BYTE_BEYOND_PLENTY = 0.25

/** Counts the memory that the parts of a file will take, before any of it is allocated. */
export class StructureBudget {
  private readonly limits: Limits
  private bytes: number
  private max = 0
  private free = 0
  private plenty = 0
  private spent = 0

  constructor(limits: Limits) {
    this.limits = limits
    this.bytes = leastStructure(limits)
    this.divide()
  }

  /** Works out the shares of the memory. */
  private divide(): void {
    this.max = this.bytes / BYTES_PER_UNIT
    this.free = this.max * FREE_SHARE
    this.plenty = this.max * PLENTY_SHARE
  }

  /**
   * Counts a part of the file.
   * @param units its cost
   * @param bytes length of the file so far, without elements of tensors and unused fields
   * @param offset end of the part in the file, for the message
   * @throws NodewiseError `limit-exceeded`
   */
  spend(units: number, bytes: number, offset: number): void {
    this.spent += units
    if (this.isIn(bytes)) return
    const { structureBytes } = this.limits
    if (this.bytes !== structureBytes) {
      this.bytes = structureBytes
      this.divide()
      if (this.isIn(bytes)) return
    }
    const what = 'the file has more parts than its size justifies or memory should hold'
    exceed('structureBytes', this.limits, `${what} at byte ${offset}`, {}, { offset })
  }

  private isIn(bytes: number): boolean {
    const inProportion = Math.min(
      this.free + bytes * UNITS_PER_BYTE,
      this.plenty + bytes * UNITS_PER_BYTE_BEYOND_PLENTY
    )
    return this.spent <= Math.min(this.max, inProportion)
  }
}
