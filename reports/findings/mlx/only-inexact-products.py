import mlx.core as mx

try:
    mx.array([[1]]) @ mx.array([[2]])
except ValueError as error:
    print(error)
# prints: [matmul] Only inexact types are supported but int32 and int32 were provided which results in int32, which is not a floating point type.
