import mlx.core as mx

try:
    mx.linalg.solve(mx.ones((2, 1, 1)), mx.ones((2, 1)), stream=mx.cpu)
except ValueError as error:
    print(error)
# prints: [linalg::solve] Last dimension of first input with shape (2,1,1) must match second to last dimension of second input with shape (2,1).
