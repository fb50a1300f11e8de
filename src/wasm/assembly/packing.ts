import { interleave, InterleavedArguments } from './coded/nibble-order'
import {
  HalfPanelsArguments,
  LineWeightsArguments,
  packForLines,
  packForWinograd,
  packToHalfPanels,
  packToPanels,
  packToStrips,
  PanelsArguments,
  StripsArguments,
  WinogradWeightsArguments
} from './f32/packing'
import {
  BytePanelsArguments,
  ByteStripsArguments,
  packForByteWinograd,
  packToBytePanels,
  packToByteStrips,
  packToDotStrips
} from './int8/packing'

/** The kernels that pack constants: computes the blocks `from … to-1` of a job of that number. */
export function pack(kernel: i32, args: usize, scratch: usize, from: u32, to: u32): void {
  switch (kernel) {
    case 110:
      packToPanels(changetype<PanelsArguments>(args), from, to)
      break
    case 111:
      packToStrips(changetype<StripsArguments>(args), from, to)
      break
    case 112:
      packForWinograd(changetype<WinogradWeightsArguments>(args), scratch, from, to)
      break
    case 113:
      packForLines(changetype<LineWeightsArguments>(args), from, to)
      break
    case 114:
      packToHalfPanels(changetype<HalfPanelsArguments>(args), scratch, from, to)
      break
    case 115:
      packToBytePanels(changetype<BytePanelsArguments>(args), from, to)
      break
    case 116:
      packToByteStrips(changetype<ByteStripsArguments>(args), from, to)
      break
    case 117:
      packToDotStrips(changetype<ByteStripsArguments>(args), from, to)
      break
    case 118:
      packForByteWinograd(changetype<ByteStripsArguments>(args), from, to)
      break
    case 119:
      interleave(changetype<InterleavedArguments>(args), scratch, from, to)
      break
    default:
      unreachable()
  }
}
