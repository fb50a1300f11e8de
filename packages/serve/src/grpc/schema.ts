import { readFileSync } from 'node:fs'
import type { ServiceDefinition } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { Refusal } from '../refusal.ts'
import { checkSize } from './wire.ts'

/** A 64-bit integer as protobufjs reads it: a number, or an object of two halves. */
export type Wide = number | { readonly low: number; readonly high: number; readonly unsigned: boolean }

/** A parameter of a request or of a tensor. */
export interface Parameter {
  readonly bool_param?: boolean
  readonly int64_param?: Wide
  readonly string_param?: string
  readonly double_param?: number
  readonly uint64_param?: Wide
}
export type Parameters = Readonly<Record<string, Parameter>>

/** Typed contents of a tensor: one of the lists. */
export interface Contents {
  readonly bool_contents: readonly boolean[]
  readonly int_contents: readonly number[]
  readonly int64_contents: readonly Wide[]
  readonly uint_contents: readonly number[]
  readonly uint64_contents: readonly Wide[]
  readonly fp32_contents: readonly number[]
  readonly fp64_contents: readonly number[]
  readonly bytes_contents: readonly Uint8Array[]
}

/** A decoded ModelInferRequest. */
export interface GrpcRequest {
  readonly model_name: string
  readonly model_version: string
  readonly id: string
  readonly parameters: Parameters
  readonly inputs: readonly {
    readonly name: string
    readonly datatype: string
    readonly shape: readonly Wide[]
    readonly parameters: Parameters
    readonly contents?: Contents | null
  }[]
  readonly outputs: readonly { readonly name: string; readonly parameters: Parameters }[]
  readonly raw_input_contents: readonly Uint8Array[]
}

const read = (file: string): protobuf.Root =>
  protobuf.parse(readFileSync(new URL(`../../proto/${file}`, import.meta.url), 'utf8'), { keepCase: true }).root

const INFER_REQUEST = 'ModelInferRequest'

/**
 * A service for @grpc/grpc-js from its description. @grpc/proto-loader would copy every message into plain objects
 * first. A request of inference stays bytes until its handler decodes it, so that it is refused with a status.
 */
function serviceOf(root: protobuf.Root, path: string): ServiceDefinition {
  const service = root.lookupService(path)
  const serialize =
    (type: protobuf.Type) =>
    (value: object): Buffer =>
      Buffer.from(type.encode(type.fromObject(value)).finish())
  const deserialize =
    (type: protobuf.Type) =>
    (bytes: Buffer): protobuf.Message | Buffer =>
      type.name === INFER_REQUEST ? bytes : type.decode(bytes)
  return Object.fromEntries(
    service.methodsArray.map(({ name, requestType, responseType, requestStream, responseStream }) => {
      const [request, response] = [service.lookupType(requestType), service.lookupType(responseType)]
      return [
        name,
        {
          path: `/${path}/${name}`,
          requestStream: requestStream === true,
          responseStream: responseStream === true,
          requestSerialize: serialize(request),
          requestDeserialize: deserialize(request),
          responseSerialize: serialize(response),
          responseDeserialize: deserialize(response)
        }
      ]
    })
  )
}

const inferenceRoot = read('inference.proto')
const requestType = inferenceRoot.lookupType(`inference.${INFER_REQUEST}`)

/** The protocol's service. */
export const INFERENCE = serviceOf(inferenceRoot, 'inference.GRPCInferenceService')
/** The service that balancers and Kubernetes probe. */
export const HEALTH = serviceOf(read('health.proto'), 'grpc.health.v1.Health')

/**
 * Decodes a request of inference, after a look at what it will take in memory.
 * @param maxTyped bytes of its typed contents
 * @throws Refusal `body-too-large`, `bad-request`
 */
export function decodeRequest(bytes: Buffer, maxTyped: number): GrpcRequest {
  checkSize(bytes, maxTyped)
  try {
    return requestType.decode(bytes) as unknown as GrpcRequest
  } catch (error) {
    throw new Refusal('bad-request', `the message is no ${INFER_REQUEST}: ${(error as Error).message}`)
  }
}

/** @throws Refusal `bad-request` beyond 2^53 */
export function numberOf(value: Wide): number {
  const number = Number(bigintOf(value))
  if (!Number.isSafeInteger(number)) throw new Refusal('bad-request', `${bigintOf(value)} is too large`)
  return number
}

export const bigintOf = (value: Wide): bigint =>
  typeof value === 'number'
    ? BigInt(value)
    : (BigInt(value.unsigned ? value.high >>> 0 : value.high) << 32n) | BigInt(value.low >>> 0)
