import array_api_strict as xp

print(xp.all(xp.asarray([1, 0], dtype=xp.uint8)).dtype)
# prints: array_api_strict.bool
