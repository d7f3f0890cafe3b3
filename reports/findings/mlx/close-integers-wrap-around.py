import mlx.core as mx

print(mx.isclose(mx.array([-2147483648]), mx.array([2147483647])).item())
# prints: True
