import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] i) => (float[] y) { y = Gather(x, i) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.array([1, 2, 3], dtype=np.float32), "i": np.array([[0]])})[0].shape)
# prints: (1, 1)
