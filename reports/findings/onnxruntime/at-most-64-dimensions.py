import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] a) => (float[] y) { y = Unsqueeze(x, a) }'''
model = onnx.parser.parse_model(text)
ones = np.ones((1,) * 64, dtype=np.float32)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": ones, "a": np.array([0])})
except Exception as error:
    print(error)
# prints: number of dimensions must be within [0, 64]
