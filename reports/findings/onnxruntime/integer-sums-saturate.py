import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (int32[] x) => (int32[] y) { y = ReduceSum(x) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.array([2147483647, 2], dtype=np.int32)})[0])
# prints: [2147483647]
