import mlx.core as mx

try:
    mx.var(mx.array([1.0, 2.0]), ddof=0.5)
except TypeError as error:
    print(str(error).splitlines()[0])
# prints: var(): incompatible function arguments. The following argument types are supported:
