import array_api_strict as xp

print(xp.var(xp.asarray([1.0, 2.0])))
# prints: Array(0.25, dtype=array_api_strict.float64)
