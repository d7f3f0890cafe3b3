import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, float[] a) => (float[] y) { y = PRelu(x, a) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": -np.ones((1, 2, 2), dtype=np.float32), "a": np.array([1, 2], dtype=np.float32)})[0])
# prints: [[[-1. -2.]
#           [-1. -2.]]]
