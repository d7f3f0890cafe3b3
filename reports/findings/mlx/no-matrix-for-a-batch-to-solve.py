import mlx.core as mx

try:
    mx.linalg.solve(mx.eye(1), mx.ones((2, 1, 1)), stream=mx.cpu)
except ValueError as error:
    print(error)
# prints: [take_along_axis] Indices of dimension 2 does not match array of dimension 3.
