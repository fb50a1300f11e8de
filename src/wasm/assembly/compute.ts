import { CodedArguments } from './coded/arguments'
import { codedProduct } from './coded/product'
import { foldHalves, HalfFoldArguments } from './f16/fold'
import { attention } from './f32/attention'
import { AttentionArguments } from './f32/attention-arguments'
import { BagArguments, reduceBags } from './f32/bags'
import { best, BestArguments } from './f32/best'
import { ChannelGroupsArguments, normalizeChannelGroups } from './f32/channel-groups'
import { ChooseArguments, chooseLines } from './f32/choose'
import { CompareArguments, compareLines } from './f32/compare'
import { ConvArguments } from './f32/conv'
import { convPanels } from './f32/conv-panels'
import { convTranspose, ConvTransposeArguments } from './f32/conv-transpose'
import { ConvertArguments, convertElements } from './f32/convert'
import { DeformArguments, deformLines } from './f32/deform'
import { depthwisePlanes } from './f32/depthwise'
import { DistanceArguments, distanceRows } from './f32/distances'
import { binary, BinaryArguments, unary, UnaryArguments } from './f32/elementwise'
import { fewOutputBands } from './f32/few-outputs'
import { fold, FoldArguments } from './f32/fold'
import { fourier, FourierArguments } from './f32/fourier'
import { GateArguments, gateRows } from './f32/gate'
import { GridArguments, sampleGrid } from './f32/grid'
import { sampleCubic } from './f32/grid-cubic'
import { sampleNearest } from './f32/grid-nearest'
import { findHighest, HighestArguments } from './f32/highest'
import { winogradLines } from './f32/line-winograd'
import { MatrixArguments, matrixPanels } from './f32/matrix'
import { PoolArguments, poolPlanes } from './f32/pool'
import { gru, lstm, RecurrentArguments, rnn } from './f32/recurrent'
import { reduce, ReduceArguments } from './f32/reduce'
import { alignRegions, RegionArguments } from './f32/regions'
import { LinesResampleArguments, resampleLines, resampleRows, RowsResampleArguments } from './f32/resample'
import { localResponse, ResponseArguments } from './f32/response'
import { RotateArguments, rotateRows } from './f32/rotate'
import {
  GroupsArguments,
  layerNormRows,
  normalizeChannelRows,
  normalizeChannels,
  normalizeGroups,
  rmsNormRows,
  RowsArguments
} from './f32/rows'
import { NumberedArguments, sine } from './f32/sine'
import { softmax, SoftmaxArguments } from './f32/softmax'
import { TakeArguments, takeRows } from './f32/take'
import { TopArguments, topLines } from './f32/top'
import { transcendental } from './f32/transcendental'
import { copyLines, LinesArguments, transpose, TransposeArguments } from './f32/transpose'
import { winogradBlocks } from './f32/winograd'
import { byteBinary, ByteBinaryArguments } from './int8/binary'
import { CodesArguments, dequantizeLines, quantizeLines, roundLines } from './int8/codes'
import { byteConvPanels } from './int8/conv'
import { ByteConvArguments } from './int8/conv-arguments'
import { byteDepthwisePlanes } from './int8/depthwise'
import { LevelsArguments, roundToLevels } from './int8/levels'
import { extremes, ExtremesArguments } from './int8/extremes'
import { byteMeans, ByteMeanArguments } from './int8/mean'
import { byteMaxPlanes, byteMeanPlanes, ByteMeanPoolArguments, BytePoolArguments } from './int8/pool'
import { byteProduct } from './int8/product'
import { ByteProductArguments } from './int8/product-arguments'
import { DynamicCodesArguments, quantizeByRange, RangeArguments, rangeOfLines } from './int8/range'
import { byteSoftmax, ByteSoftmaxArguments } from './int8/softmax'
import { lookUpLines, TableArguments } from './int8/table'
import { byteWinograd } from './int8/winograd'
import { Job } from './job'
import { pack } from './packing'
import { forgetRows } from './remembered'
import { firstBlock, leave, stop, takeTile } from './scheduler'
import { arithmetic } from './wide/arithmetic'
import { ArithmeticArguments } from './wide/arithmetic-arguments'
import { wideBest, WideBestArguments } from './wide/best'
import { CountArguments, countUp } from './wide/count'
import { cumulate, CumulateArguments } from './wide/cumulate'
import { DeterminantArguments, determinants } from './wide/determinant'
import { narrowBest, NarrowBestArguments } from './wide/narrow-best'
import { padLines, PaddingArguments } from './wide/padding'
import { wideProduct, WideProductArguments } from './wide/product'
import { reduceWide, WideReduceArguments } from './wide/reduce'
import { ReverseArguments, reverseLines } from './wide/reverse'
import { wideRows, WideRowsArguments } from './wide/rows'
import { scatter, ScatterArguments } from './wide/scatter'
import { scatterTuples, ScatterTuplesArguments } from './wide/scatter-tuples'
import { shortTop, ShortTopArguments } from './wide/short-top'
import { wideSoftmax } from './wide/softmax'
import { copyStrided, StridedArguments } from './wide/strided'
import { wideTop, WideTopArguments } from './wide/top'
import { TreesArguments, walkTrees } from './wide/trees'
import { addVotes, VotesArguments } from './wide/votes'

export { narrowHalves, widenHalves } from './f16/halves'
export { dot } from './int8/dots'

/**
 * Computes the blocks `from … to-1` of a job. The numbers of the kernels are those of `COMPUTING` in ../wasm.ts.
 * @param scratch memory that belongs to the calling thread
 * @returns whether the kernel stopped at a value that it cannot serve: most of these kernels never do
 */
export function run(job: Job, scratch: usize, from: u32, to: u32): bool {
  forgetRows()
  return compute(job, scratch, from, to)
}

/** {@link run} for further blocks of a job, between which nothing else has used the scratch memory. */
function compute(job: Job, scratch: usize, from: u32, to: u32): bool {
  const args = job.args
  switch (job.kernel) {
    case 0:
      matrixPanels(changetype<MatrixArguments>(args), scratch, from, to)
      break
    case 1:
      convPanels(changetype<ConvArguments>(args), scratch, from, to)
      break
    case 2:
      depthwisePlanes(changetype<ConvArguments>(args), scratch, from, to)
      break
    case 3:
      winogradBlocks(changetype<ConvArguments>(args), scratch, from, to)
      break
    case 4:
      unary(changetype<UnaryArguments>(args), from, to)
      break
    case 5:
      binary(changetype<BinaryArguments>(args), from, to)
      break
    case 6:
      softmax(changetype<SoftmaxArguments>(args), from, to)
      break
    case 7:
      layerNormRows(changetype<RowsArguments>(args), from, to)
      break
    case 8:
      rmsNormRows(changetype<RowsArguments>(args), from, to)
      break
    case 9:
      reduce(changetype<ReduceArguments>(args), from, to)
      break
    case 10:
      transpose(changetype<TransposeArguments>(args), from, to)
      break
    case 11:
      poolPlanes(changetype<PoolArguments>(args), scratch, from, to)
      break
    case 12:
      lstm(changetype<RecurrentArguments>(args), scratch, from, to)
      break
    case 13:
      gru(changetype<RecurrentArguments>(args), scratch, from, to)
      break
    case 14:
      rnn(changetype<RecurrentArguments>(args), scratch, from, to)
      break
    case 15:
      gateRows(changetype<GateArguments>(args), from, to)
      break
    case 16:
      winogradLines(changetype<ConvArguments>(args), scratch, from, to)
      break
    case 17:
      fewOutputBands(changetype<ConvArguments>(args), scratch, from, to)
      break
    case 20:
      normalizeGroups(changetype<GroupsArguments>(args), from, to)
      break
    case 21:
      normalizeChannels(changetype<GroupsArguments>(args), from, to)
      break
    case 22:
      normalizeChannelGroups(changetype<ChannelGroupsArguments>(args), scratch, from, to)
      break
    case 23:
      normalizeChannelRows(changetype<GroupsArguments>(args), scratch, from, to)
      break
    case 30:
      return alignRegions(changetype<RegionArguments>(args), scratch, from, to)
    case 31:
      return sampleGrid(changetype<GridArguments>(args), scratch, from, to)
    case 32:
      return sampleCubic(changetype<GridArguments>(args), scratch, from, to)
    case 33:
      return sampleNearest(changetype<GridArguments>(args), scratch, from, to)
    case 40:
      copyLines(changetype<LinesArguments>(args), from, to)
      break
    case 41:
      convTranspose(changetype<ConvTransposeArguments>(args), scratch, from, to)
      break
    case 42:
      compareLines(changetype<CompareArguments>(args), scratch, from, to)
      break
    case 43:
      chooseLines(changetype<ChooseArguments>(args), from, to)
      break
    case 44:
      convertElements(changetype<ConvertArguments>(args), scratch, from, to)
      break
    case 45:
      best(changetype<BestArguments>(args), from, to)
      break
    case 46:
      resampleRows(changetype<RowsResampleArguments>(args), from, to)
      break
    case 47:
      resampleLines(changetype<LinesResampleArguments>(args), from, to)
      break
    case 48:
      takeRows(changetype<TakeArguments>(args), from, to)
      break
    case 49:
      findHighest(changetype<HighestArguments>(args), from, to)
      break
    case 50:
      byteProduct(changetype<ByteProductArguments>(args), scratch, from, to)
      break
    case 51:
      quantizeLines(changetype<CodesArguments>(args), scratch, from, to)
      break
    case 52:
      dequantizeLines(changetype<CodesArguments>(args), scratch, from, to)
      break
    case 53:
      rangeOfLines(changetype<RangeArguments>(args), from, to)
      break
    case 54:
      codedProduct(changetype<CodedArguments>(args), scratch, from, to)
      break
    case 55:
      byteConvPanels(changetype<ByteConvArguments>(args), scratch, from, to)
      break
    case 56:
      byteDepthwisePlanes(changetype<ByteConvArguments>(args), scratch, from, to)
      break
    case 57:
      lookUpLines(changetype<TableArguments>(args), from, to)
      break
    case 58:
      byteMaxPlanes(changetype<BytePoolArguments>(args), scratch, from, to)
      break
    case 59:
      byteBinary(changetype<ByteBinaryArguments>(args), from, to)
      break
    case 60:
      attention(changetype<AttentionArguments>(args), scratch, from, to)
      break
    case 61:
      byteWinograd(changetype<ByteConvArguments>(args), scratch, from, to)
      break
    case 62:
      rotateRows(changetype<RotateArguments>(args), from, to)
      break
    case 63:
      return quantizeByRange(changetype<DynamicCodesArguments>(args), scratch)
    case 70:
      byteMeans(changetype<ByteMeanArguments>(args), scratch, from, to)
      break
    case 71:
      byteMeanPlanes(changetype<ByteMeanPoolArguments>(args), scratch, from, to)
      break
    case 72:
      byteSoftmax(changetype<ByteSoftmaxArguments>(args), from, to)
      break
    case 73:
      extremes(changetype<ExtremesArguments>(args), from, to)
      break
    case 74:
      roundLines(changetype<CodesArguments>(args), from, to)
      break
    case 75:
      roundToLevels(changetype<LevelsArguments>(args), from, to)
      break
    case 80:
      return arithmetic(changetype<ArithmeticArguments>(args), from, to)
    case 81:
      return scatter(changetype<ScatterArguments>(args), from, to)
    case 82:
      return sine(changetype<NumberedArguments>(args), from, to)
    case 83:
      copyStrided(changetype<StridedArguments>(args), from, to)
      break
    case 84:
      reduceWide(changetype<WideReduceArguments>(args), from, to)
      break
    case 85:
      wideProduct(changetype<WideProductArguments>(args), from, to)
      break
    case 86:
      localResponse(changetype<ResponseArguments>(args), from, to)
      break
    case 87:
      distanceRows(changetype<DistanceArguments>(args), from, to)
      break
    case 88:
      cumulate(changetype<CumulateArguments>(args), scratch, from, to)
      break
    case 89:
      wideBest(changetype<WideBestArguments>(args), scratch, from, to)
      break
    case 90:
      fold(changetype<FoldArguments>(args), from, to)
      break
    case 91:
      transcendental(changetype<NumberedArguments>(args), from, to)
      break
    case 92:
      padLines(changetype<PaddingArguments>(args), from, to)
      break
    case 93:
      return scatterTuples(changetype<ScatterTuplesArguments>(args))
    case 94:
      walkTrees(changetype<TreesArguments>(args), from, to)
      break
    case 95:
      topLines(changetype<TopArguments>(args), scratch, from, to)
      break
    case 96:
      narrowBest(changetype<NarrowBestArguments>(args), from, to)
      break
    case 97:
      foldHalves(changetype<HalfFoldArguments>(args), from, to)
      break
    case 98:
      wideSoftmax(changetype<SoftmaxArguments>(args), scratch, from, to)
      break
    case 99:
      reverseLines(changetype<ReverseArguments>(args), from, to)
      break
    case 100:
      countUp(changetype<CountArguments>(args), from, to)
      break
    case 101:
      deformLines(changetype<DeformArguments>(args), scratch, from, to)
      break
    case 102:
      wideTop(changetype<WideTopArguments>(args), scratch, from, to)
      break
    case 103:
      determinants(changetype<DeterminantArguments>(args), scratch, from, to)
      break
    case 104:
      addVotes(changetype<VotesArguments>(args), from, to)
      break
    case 105:
      reduceBags(changetype<BagArguments>(args), from, to)
      break
    case 106:
      fourier(changetype<FourierArguments>(args), scratch, from, to)
      break
    case 107:
      wideRows(changetype<WideRowsArguments>(args), from, to)
      break
    case 108:
      shortTop(changetype<ShortTopArguments>(args), scratch, from, to)
      break
    default:
      pack(job.kernel, args, scratch, from, to)
  }
  return false
}

/**
 * Computes the next tile of a job.
 * @param isNew whether something else may have used the scratch memory since the last tile
 * @returns false where no tile was left, and where the kernel has stopped
 */
export function step(job: Job, scratch: usize, isNew: bool): bool {
  if (isNew) forgetRows()
  return computeTile(job, scratch, takeTile(job))
}

/** Computes tiles until none is left: for a worker, which has entered the job and taken its first tile. */
export function join(job: Job, scratch: usize, first: i32): void {
  forgetRows()
  for (let tile = first; computeTile(job, scratch, tile); tile = takeTile(job));
  leave(job)
}

function computeTile(job: Job, scratch: usize, tile: i32): bool {
  if (tile < 0) return false
  const isStopped = compute(job, scratch, firstBlock(job, tile), min(job.blocks, firstBlock(job, tile + 1)))
  if (isStopped) stop(job)
  return !isStopped
}
