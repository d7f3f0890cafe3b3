import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] a) => (float[] y) { y = Squeeze(x, a) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.ones((1, 3), dtype=np.float32), "a": np.array([], dtype=np.int64)})[0].shape)
# prints: (3,)
