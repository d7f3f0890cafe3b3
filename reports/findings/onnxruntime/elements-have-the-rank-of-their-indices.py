import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, int64[] i) => (float[] y) { y = GatherElements(x, i) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.array([1, 2, 3], dtype=np.float32), "i": np.array(2)})
except Exception as error:
    print(str(error).strip().split("Status Message: ")[-1])
# prints: GatherElements op: Rank of input 'data' needs to be equal to rank of input 'indices'
