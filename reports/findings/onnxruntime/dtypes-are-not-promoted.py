import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, double[] z) => (float[] y) { y = Add(x, z) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones(1, dtype=np.float32), "z": np.ones(1)})
except Exception as error:
    print(str(error).strip().split("Type Error: ")[-1])
# prints: Type parameter (T) of Optype (Add) bound to different types (tensor(float) and tensor(double) in node ().
