"""A runtime of MLServer over ONNX Runtime, a peer of `nodewise serve` (bench/serve-load.mjs --mlserver)."""

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class OnnxModel(MLModel):
    """The model file that `parameters.uri` of the settings names, one thread a run as the server has several."""

    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(self.settings.parameters.uri, options)
        self.names = [output.name for output in self.session.get_outputs()]
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feeds = {one.name: NumpyCodec.decode_input(one) for one in payload.inputs}
        values = self.session.run(self.names, feeds)
        outputs = [NumpyCodec.encode_output(name, value) for name, value in zip(self.names, values)]
        return InferenceResponse(model_name=self.name, outputs=outputs)
