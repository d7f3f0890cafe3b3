import numpy as np
import onnx.parser
import onnxruntime

text = '''<ir_version: 13, opset_import: ["": 26]>
graph (float[] x) => (float[] y) { y = Transpose <perm = [-1, 0]> (x) }'''
model = onnx.parser.parse_model(text)
try:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    session.run(None, {"x": np.ones((2, 3), dtype=np.float32)})
except Exception as error:
    print(str(error).strip().split("] ")[-1])
# prints: v >= 0 && static_cast<uint64_t>(v) <= std::numeric_limits<size_t>::max() was false.
