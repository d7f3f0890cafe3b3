import mlx.core as mx

try:
    mx.linalg.solve(mx.eye(1, dtype=mx.float16), mx.ones((1,), mx.float16), stream=mx.cpu)
except ValueError as error:
    print(error)
# prints: [linalg::solve] Input arrays must promote to float32 or float64.  Received arrays with type float16 and float16.
