import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x) => (float[] y) { y = ReduceMax(x) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.array([np.nan, 1], dtype=np.float32)})[0])
print(session.run(None, {"x": np.array([1, np.nan], dtype=np.float32)})[0])
# prints: [nan]
#         [1.]
