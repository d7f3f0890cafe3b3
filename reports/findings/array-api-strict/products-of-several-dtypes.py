import array_api_strict as xp

print((xp.ones((2, 2), dtype=xp.float32) @ xp.ones((2, 2), dtype=xp.float64)).dtype)
# prints: array_api_strict.float64
