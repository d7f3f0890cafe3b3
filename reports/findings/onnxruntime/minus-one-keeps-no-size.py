import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] s) => (float[] y) { y = Expand(x, s) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((3, 1), dtype=np.float32), "s": np.array([-1, 2])})
except Exception as error:
    print(str(error).strip().split("Status Message: ")[-1])
# prints: invalid expand shape
