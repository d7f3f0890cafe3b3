import mlx.core as mx

print(mx.outer(mx.ones((2, 2)), mx.ones((3,))).shape, mx.addmm(mx.ones((1,)), mx.ones((3,)), mx.ones((3, 2))).shape)
# prints: (4, 3) (2,)
