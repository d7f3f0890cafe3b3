import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[R,C] x) => (float[] y) { y = Einsum <equation = "1->1"> (x) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((2, 2), dtype=np.float32)})
except Exception as error:
    print(str(error).strip().split("] ")[-1])
# prints: Rank of input 0 (2) does not match the equation indices (0).
