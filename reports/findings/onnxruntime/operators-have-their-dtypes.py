import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (int64[] x, int64[] z) => (int64[] y) { y = BitShift <direction = "LEFT"> (x, z) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones(1), "z": np.ones(1)})
except Exception as error:
    print(str(error).strip().split("invalid model. ")[-1])
# prints: Type Error: Type 'tensor(int64)' of input parameter (x) of operator (BitShift) in node () is invalid.
