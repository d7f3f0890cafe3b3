import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, float[] a) => (float[] y) { y = Clip(x, a) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((2, 2), dtype=np.float32), "a": np.ones(2, dtype=np.float32)})
except Exception as error:
    print(str(error).strip().split("was false. ")[-1])
# prints: min should be a scalar.
