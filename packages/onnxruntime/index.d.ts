// A name for `nodewise/onnxruntime` that a program can be given in the place of onnxruntime-node or onnxruntime-web.
export * from 'nodewise/onnxruntime'
export { default } from 'nodewise/onnxruntime'
