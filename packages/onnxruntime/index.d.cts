// The same for CommonJS, and for compilers that do not read `exports`.
export * from 'onnxruntime-common'
export declare const listSupportedBackends: () => { readonly name: string; readonly bundled: boolean }[]
