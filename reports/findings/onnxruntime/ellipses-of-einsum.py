import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x) => (float[] y) { y = Einsum <equation = "...i->i"> (x) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((2, 2), dtype=np.float32)})
except Exception as error:
    print(str(error).strip().split("Status Message: ")[-1])
# prints: Inputs have ellipses in them but the provided output subscript does not contain an ellipsis
