import array_api_strict as xp

print((xp.ones(2, dtype=xp.float32) + xp.asarray(1.0, dtype=xp.float64)).dtype)
# prints: array_api_strict.float64
