import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] a) => (float[] y) { y = ReduceSum(x, a) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.ones((0, 2), dtype=np.float32), "a": np.array([1])})[0].shape)
print(session.run(None, {"x": np.ones((0, 2), dtype=np.float32), "a": np.array([-1])})[0].shape)
# prints: (0, 1)
#         (0, 2)
