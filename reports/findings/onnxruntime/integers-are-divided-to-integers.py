import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (int64[] x, int64[] z) => (int64[] y) { y = Div(x, z) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.array([1, -3]), "z": np.array(2)})[0])
# prints: [ 0 -1]
