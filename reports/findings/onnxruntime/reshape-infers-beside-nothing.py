import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] s) => (float[] y) { y = Reshape <allowzero = 1> (x, s) }'''
model = onnx.parser.parse_model(text)
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {"x": np.ones((3, 0), dtype=np.float32), "s": np.array([-1, 0])})[0].shape)
# prints: (3, 0)
