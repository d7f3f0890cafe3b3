import array_api_strict as xp

print(xp.take(xp.asarray([1, 2, 3]), xp.asarray([-1])))
# prints: Array([3], dtype=array_api_strict.int64)
