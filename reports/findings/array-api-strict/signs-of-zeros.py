import array_api_strict as xp

zeros = xp.zeros(2)
print(xp.maximum(zeros, -zeros), xp.maximum(-zeros, zeros))
# prints: Array([-0., -0.], dtype=array_api_strict.float64) Array([0., 0.], dtype=array_api_strict.float64)
