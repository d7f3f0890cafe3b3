import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (int8[R,C] x) => (int8[] y) { y = Einsum <equation = "ij->ji"> (x) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((2, 2), dtype=np.int8)})
except Exception as error:
    print(str(error).strip().split(" : ")[-1])
# prints: Could not find an implementation for Einsum(12) node with name ''
