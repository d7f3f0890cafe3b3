import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x, float[] z) => (float[] y) { y = Mod(x, z) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones(1, dtype=np.float32), "z": np.ones(1, dtype=np.float32)})
except Exception as error:
    print(str(error).strip().split("was false. ")[-1])
# prints: fmod attribute must be true for floating point types
