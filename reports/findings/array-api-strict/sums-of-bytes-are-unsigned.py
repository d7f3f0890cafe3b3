import array_api_strict as xp

print(xp.sum(xp.ones(2, dtype=xp.uint8)).dtype)
# prints: array_api_strict.uint64
