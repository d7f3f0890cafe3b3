import array_api_strict as xp

print(xp.sum(xp.ones((2, 3)), axis=()).shape)
# prints: (2, 3)
