import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] a) => (float[] y) { y = Squeeze(x, a) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.array(5, dtype=np.float32), "a": np.array([0])})
except Exception as error:
    print(str(error).strip().split("was false. ")[-1])
# prints: axis 0 is not in valid range [-0,-1]
