import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] a) => (float[] y) { y = Squeeze(x, a) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((1, 3), dtype=np.float32), "a": np.array([1])})
except Exception as error:
    print(str(error).strip().split("was false. ")[-1])
# prints: Dimension of input 1 must be 1 instead of 3. shape={1,3}
