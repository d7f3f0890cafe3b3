import mlx.core as mx

mask = mx.array([True, False, True])
x = mx.zeros((2, 3))
for value in (9.0, mx.array([8.0, 9.0])):
    try:
        x[:, mask] = value
    except (SystemError, ValueError) as error:
        print(error)
# prints: nanobind::detail::nb_func_error_except(): exception could not be translated!
# prints: [broadcast_shapes] Shapes (2) and (2,3) cannot be broadcast.
