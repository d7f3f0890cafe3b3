import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] s) => (float[] y) { y = Expand(x, s) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones(1, dtype=np.float32), "s": np.array([1 << 60])})
except Exception as error:
    print(str(error).strip().split("*) ")[-1])
# prints: Failed to allocate memory for requested buffer of size 4611686018427387904
