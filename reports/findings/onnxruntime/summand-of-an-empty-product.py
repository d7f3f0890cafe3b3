import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] a, float[] b, float[] c) => (float[] y) { y = Gemm <beta = 3.0> (a, b, c) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
a, b, c = (np.ones(shape, dtype=np.float32) for shape in [(1, 0), (0, 2), (1, 2)])
print(session.run(None, {"a": a, "b": b, "c": c})[0])
# prints: [[1. 1.]]
